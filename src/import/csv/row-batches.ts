import { isAscii } from "node:buffer";
import type { ByteSource } from "./byte-source.ts";
import type { FileFormat } from "./file-format.ts";
import { hashKey, type KeyFilter, trimKey } from "./pre-scan.ts";
import { readRecordBlocks, type RecordBlock } from "./record-blocks.ts";
import { recordFlag, type RecordProblem } from "./record-scanner.ts";
import { splitRecord } from "./split-record.ts";
import { maxSpilledAtOnce, Spill, type SpilledRow } from "./spill.ts";

/** Rows of a file in processing order, as parallel lists. */
export interface RowBatch {
  readonly rows: string[][];
  /** The line on which each row starts, from 1. */
  readonly lines: number[];
  /** By index: the record of a row whose cells can be split again, if it is known. */
  readonly texts?: readonly (string | undefined)[];
  /** By index; a row with one has its raw text as its only cell unless it could be parsed. */
  readonly problems: Map<number, RecordProblem>;
  /** By index, what rows that belong together have in common: a key or a family. */
  readonly families?: ReadonlyMap<number, string>;
}

/** Brings non-adjacent rows with the same key together, at the position of the first; spills them to `folder`. */
export interface Grouping {
  readonly keyColumn: number;
  readonly repeated: KeyFilter;
  readonly folder: string;
}

/**
 * The parsed rows of a file, with rows of the same key next to each other if a grouping is given. Memory use is
 * bounded: non-adjacent rows are spilled to disk.
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
  const { keyColumn, repeated } = grouping;
  const batches = function* () {
    for (const block of readRecordBlocks(source, format, keyColumn)) {
      yield [parseBlock(block, format), (at: number) => isRepeated(block, at, repeated)] as const;
    }
  };
  yield* insertGroups(batches(), spill);
}

/** Replaces the spilled rows of batches by their groups, each at the position of its first row. */
export function* insertGroups(
  batches: Iterable<readonly [batch: RowBatch, isSpilled: (at: number) => boolean]>,
  spill: Spill,
): Generator<RowBatch> {
  const groups = spill.groups();
  let group = groups.next();
  for (const [{ rows, lines, problems }, isSpilled] of batches) {
    let batch = emptyBatch();
    for (const [at, cells] of rows.entries()) {
      const line = lines[at] ?? 0;
      if (!isSpilled(at)) {
        append(batch, { cells, line, problem: problems.get(at) });
        continue;
      }
      for (; !group.done && group.value.firstLine === line; group = groups.next()) {
        for (const row of group.value.rows) append(batch, row);
        if (group.value.rows.length < maxSpilledAtOnce) continue;
        yield batch;
        batch = emptyBatch();
      }
    }
    yield batch;
  }
}

function spillRepeated(source: ByteSource, format: FileFormat, { keyColumn, repeated, folder }: Grouping): Spill {
  const spill = new Spill(folder);
  for (const block of readRecordBlocks(source, format, keyColumn)) {
    const isWanted = block.records.starts.map((_, at) => isRepeated(block, at, repeated));
    if (!isWanted.includes(true)) continue;
    const { rows, lines, problems } = parseBlock(block, format);
    for (const [at, cells] of rows.entries()) {
      if (!isWanted[at]) continue;
      spill.add({
        // A record that could not be parsed still belongs to the others with its key.
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

function emptyBatch(): RowBatch & { readonly families: Map<number, string> } {
  return { rows: [], lines: [], problems: new Map(), families: new Map() };
}

function append(
  batch: ReturnType<typeof emptyBatch>,
  { cells, line, problem, key }: Omit<SpilledRow, "key"> & Partial<Pick<SpilledRow, "key">>,
): void {
  const at = batch.rows.length;
  if (problem) batch.problems.set(at, problem);
  if (key !== undefined) batch.families.set(at, key);
  batch.rows.push(cells);
  batch.lines.push(line);
}

/** Splits the valid records of a block, and keeps invalid ones as raw text. */
function parseBlock(block: RecordBlock, { delimiter }: FileFormat): RowBatch {
  const { lines, flags } = block.records;
  const problems = new Map<number, RecordProblem>();
  const textAt = readTexts(block);
  const texts: (string | undefined)[] = [];
  const rows = flags.map((flag, at) => {
    const text = textAt(at);
    if ((flag & ~recordFlag.quoted) === 0) texts[at] = text;
    if (flag === 0) return text.split(delimiter);
    const problem = findProblem(flag);
    if (problem) problems.set(at, problem);
    return problem === undefined || problem === "nul_byte" ? splitRecord(text, delimiter) : [text];
  });
  return { rows, lines, texts, problems };
}

function findProblem(flag: number): RecordProblem | undefined {
  if ((flag & recordFlag.tooLong) !== 0) return "record_too_long";
  if ((flag & recordFlag.badQuote) !== 0) return "bad_quote";
  return (flag & recordFlag.nul) === 0 ? undefined : "nul_byte";
}

/** The text of each record. ASCII, of which most files consist, is decoded once for the entire block. */
function readTexts({ bytes, records }: RecordBlock): (at: number) => string {
  const { starts, ends } = records;
  const from = starts[0] ?? 0;
  const to = ends.at(-1) ?? 0;
  if (!isAscii(bytes.subarray(from, to))) return (at) => bytes.toString("utf8", starts[at], ends[at]);
  const text = bytes.toString("latin1", from, to);
  return (at) => text.slice((starts[at] ?? 0) - from, (ends[at] ?? 0) - from);
}
