import { parse } from "csv-parse/sync";
import type { ByteSource } from "./byte-source.ts";
import type { FileFormat } from "./file-format.ts";
import { hashKey, type KeyFilter } from "./key-filter.ts";
import { readRecordBlocks, type RecordBlock } from "./record-blocks.ts";
import { recordFlag, type RecordProblem } from "./record-scanner.ts";
import { maxSpilledAtOnce, Spill } from "./spill.ts";
import { trimKey } from "./pre-scan.ts";

/** Rows of a file in the order in which they are to be taken; lists that run in parallel. */
export interface RowBatch {
  readonly rows: string[][];
  /** The line on which each row starts, from 1. */
  readonly lines: number[];
  /** By position in the lists; a row with one has its raw text as its only cell unless it could be parsed. */
  readonly problems: Map<number, RecordProblem>;
  /** By position, what rows that belong together have in common, where that is not told by a column. */
  readonly families?: ReadonlyMap<number, string>;
}

/** Rows of one key that are not next to each other are put aside in `folder` and come where the first stands. */
export interface Grouping {
  readonly keyColumn: number;
  readonly repeated: KeyFilter;
  readonly folder: string;
}

/**
 * The rows of a file, parsed, with the rows of one key next to each other where a grouping asks for it.
 * Memory is bounded: what is not adjacent goes to disk.
 */
export function* readRowBatches(
  source: ByteSource,
  format: FileFormat,
  grouping: Grouping | undefined,
): Generator<RowBatch> {
  if (!grouping) {
    for (const block of readRecordBlocks(source, format, -1)) yield parseBlock(block, format);
    return;
  }
  using spill = spillRepeated(source, format, grouping);
  const groups = spill.groups();
  let group = groups.next();
  for (const block of readRecordBlocks(source, format, grouping.keyColumn)) {
    const parsed = parseBlock(block, format);
    let batch = emptyBatch();
    for (const [at, row] of parsed.rows.entries()) {
      const line = parsed.lines[at] ?? 0;
      if (isRepeated(block, at, grouping.repeated)) {
        for (; !group.done && group.value.firstLine === line; group = groups.next()) {
          for (const kept of group.value.rows) append(batch, kept.cells, kept.line, kept.problem);
          if (group.value.rows.length < maxSpilledAtOnce) continue;
          yield batch;
          batch = emptyBatch();
        }
      } else {
        append(batch, row, line, parsed.problems.get(at));
      }
    }
    yield batch;
  }
}

function spillRepeated(
  source: ByteSource,
  format: FileFormat,
  { keyColumn, repeated, folder }: Grouping,
): Spill {
  const spill = new Spill(folder);
  for (const block of readRecordBlocks(source, format, keyColumn)) {
    const isWanted = block.records.starts.map((_, at) => isRepeated(block, at, repeated));
    if (!isWanted.includes(true)) continue;
    const { rows, lines, problems } = parseBlock(block, format);
    for (const [at, cells] of rows.entries()) {
      if (!isWanted[at]) continue;
      spill.add({
        // A record that could not be parsed still belongs to the others of its key.
        key: problems.has(at) ? rawKeyOf(block, at) : (cells[keyColumn] ?? "").trim(),
        line: lines[at] ?? 0,
        cells,
        problem: problems.get(at),
      });
    }
  }
  spill.seal();
  return spill;
}

function rawKeyOf({ bytes, records }: RecordBlock, at: number): string {
  const [from, to] = trimKey(bytes, records.keyStarts[at] ?? 0, records.keyEnds[at] ?? 0);
  return bytes.toString("utf8", from, to).trim();
}

function isRepeated({ bytes, records }: RecordBlock, at: number, repeated: KeyFilter): boolean {
  const start = records.keyStarts[at] ?? -1;
  if (start < 0) return false;
  const [from, to] = trimKey(bytes, start, records.keyEnds[at] ?? 0);
  return from < to && repeated.has(hashKey(bytes, from, to));
}

function emptyBatch(): RowBatch {
  return { rows: [], lines: [], problems: new Map() };
}

function append(batch: RowBatch, cells: string[], line: number, problem: RecordProblem | undefined): void {
  if (problem) batch.problems.set(batch.rows.length, problem);
  batch.rows.push(cells);
  batch.lines.push(line);
}

/** Parses the sound records of a block, and keeps each broken one as its raw text. */
function parseBlock(block: RecordBlock, format: FileFormat): RowBatch {
  const { lines, flags } = block.records;
  const problems = new Map<number, RecordProblem>();
  const rows: string[][] = Array.from({ length: lines.length });
  const quoted: number[] = [];
  let plainFrom = 0;
  for (const [at, flag] of flags.entries()) {
    const isBroken = (flag & (recordFlag.badQuote | recordFlag.tooLong)) !== 0;
    if ((flag & recordFlag.nul) !== 0) problems.set(at, "nul_byte");
    if (!isBroken && (flag & recordFlag.quoted) === 0) continue;
    splitPlain(rows, block, plainFrom, at, format);
    plainFrom = at + 1;
    if (!isBroken) {
      quoted.push(at);
      continue;
    }
    problems.set(at, (flag & recordFlag.tooLong) === 0 ? "bad_quote" : "record_too_long");
    rows[at] = [textOf(block, at, at)];
  }
  splitPlain(rows, block, plainFrom, lines.length, format);
  parseQuoted(rows, block, quoted, format);
  return { rows, lines, problems };
}

/** Records in which no field is quoted are cut at their delimiters: there is nothing else to understand. */
function splitPlain(
  rows: string[][],
  block: RecordBlock,
  from: number,
  to: number,
  format: FileFormat,
): void {
  if (from >= to) return;
  let at = from;
  const lines = textOf(block, from, to - 1).split(format.isCrOnly ? "\r" : "\n");
  for (const [index, line] of lines.entries()) {
    // The last record ends before its own line end.
    const hasReturn = !format.isCrOnly && index < lines.length - 1 && line.endsWith("\r");
    const text = hasReturn ? line.slice(0, -1) : line;
    if (text !== "") rows[at++] = text.split(format.delimiter);
  }
  if (at !== to) throw new Error(`${to - from} records were scanned, ${at - from} were cut`);
}

/** Records with quoted fields go to csv-parse, all of a block at once. */
function parseQuoted(
  rows: string[][],
  block: RecordBlock,
  quoted: readonly number[],
  format: FileFormat,
): void {
  if (quoted.length === 0) return;
  const lineEnd = format.isCrOnly ? "\r" : "\n";
  const parsed = parse(quoted.map((at) => textOf(block, at, at)).join(lineEnd), {
    delimiter: format.delimiter,
    record_delimiter: format.isCrOnly ? ["\r"] : ["\r\n", "\n"],
    relax_column_count: true,
    relax_quotes: true,
  });
  if (parsed.length !== quoted.length) {
    throw new Error(`${quoted.length} records were scanned, ${parsed.length} were parsed`);
  }
  for (const [index, at] of quoted.entries()) rows[at] = parsed[index] ?? [];
}

function textOf({ bytes, records }: RecordBlock, first: number, last: number): string {
  return bytes.toString("utf8", records.starts[first], records.ends[last]);
}
