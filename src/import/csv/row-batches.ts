import { isAscii } from "node:buffer";
import type { ByteSource } from "./byte-source.ts";
import type { FileFormat } from "./file-format.ts";
import { hashKey, type KeyFilter, trimKey } from "./pre-scan.ts";
import { readRecordBlocks, type RecordBlock } from "./record-blocks.ts";
import { recordFlag, type RecordProblem } from "./record-scanner.ts";
import { parseRecords, splitRecords } from "./split-record.ts";
import { maxRowsInMemory, RowsOnDisk, type RowOnDisk } from "./rows-on-disk.ts";

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
  using onDisk = storeRepeated(source, format, grouping);
  const { keyColumn, repeated } = grouping;
  const batches = function* () {
    for (const block of readRecordBlocks(source, format, keyColumn)) {
      yield [parseBlock(block, format), (at: number) => isRepeated(block, at, repeated)] as const;
    }
  };
  yield* insertGroups(batches(), onDisk);
}

/** The cells of a file's first valid rows. */
export function readSample(source: ByteSource, format: FileFormat, most: number): string[][] {
  const texts: string[] = [];
  for (const block of readRecordBlocks(source, format, -1)) {
    const valid = readTexts(block).filter((_, at) => block.records.flags[at] === 0);
    texts.push(...valid.slice(0, most));
    if (texts.length >= most) break;
  }
  return parseRecords(texts.slice(0, most), format.delimiter);
}

/** Replaces the spilled rows of batches by their groups, each at the position of its first row. */
export function* insertGroups(
  batches: Iterable<readonly [batch: RowBatch, isOnDisk: (at: number) => boolean]>,
  onDisk: RowsOnDisk,
): Generator<RowBatch> {
  const groups = onDisk.groups();
  let group = groups.next();
  for (const [{ rows, lines, problems }, isOnDisk] of batches) {
    let batch = emptyBatch();
    for (const [at, cells] of rows.entries()) {
      const line = lines[at] ?? 0;
      if (!isOnDisk(at)) {
        append(batch, { cells, line, problem: problems.get(at) });
        continue;
      }
      for (; !group.done && group.value.firstLine === line; group = groups.next()) {
        for (const row of group.value.rows) append(batch, row);
        if (group.value.rows.length < maxRowsInMemory) continue;
        yield batch;
        batch = emptyBatch();
      }
    }
    yield batch;
  }
}

function storeRepeated(source: ByteSource, format: FileFormat, { keyColumn, repeated, folder }: Grouping): RowsOnDisk {
  const onDisk = new RowsOnDisk(folder);
  for (const block of readRecordBlocks(source, format, keyColumn)) {
    const isWanted = block.records.starts.map((_, at) => isRepeated(block, at, repeated));
    if (!isWanted.includes(true)) continue;
    const { rows, lines, problems } = parseBlock(block, format);
    for (const [at, cells] of rows.entries()) {
      if (!isWanted[at]) continue;
      onDisk.add({
        // A record that could not be parsed still belongs to the others with its key.
        key: problems.has(at) ? rawKeyOf(block, at) : (cells[keyColumn] ?? "").trim(),
        line: lines[at] ?? 0,
        cells,
        problem: problems.get(at),
      });
    }
  }
  onDisk.seal();
  return onDisk;
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
  { cells, line, problem, key }: Omit<RowOnDisk, "key"> & Partial<Pick<RowOnDisk, "key">>,
): void {
  const at = batch.rows.length;
  if (problem) batch.problems.set(at, problem);
  if (key !== undefined) batch.families.set(at, key);
  batch.rows.push(cells);
  batch.lines.push(line);
}

/** Splits the records of a block, and keeps those that cannot be split as raw text. */
function parseBlock(block: RecordBlock, { delimiter }: FileFormat): RowBatch {
  const { lines, flags } = block.records;
  const records = readTexts(block);
  const problems = new Map<number, RecordProblem>();
  for (const [at, flag] of flags.entries()) if (flag !== 0) problems.set(at, findProblem(flag));
  if (problems.size === 0) return { rows: splitRecords(records, delimiter), lines, texts: records, problems };
  const isSplit = (at: number) => (problems.get(at) ?? "nul_byte") === "nul_byte";
  const split = splitRecords(
    records.filter((_, at) => isSplit(at)),
    delimiter,
  ).values();
  const rows = records.map((text, at) => (isSplit(at) ? (split.next().value ?? []) : [text]));
  return { rows, lines, texts: records.map((text, at) => (problems.has(at) ? undefined : text)), problems };
}

function findProblem(flag: number): RecordProblem {
  if ((flag & recordFlag.tooLong) !== 0) return "record_too_long";
  return (flag & recordFlag.badQuote) === 0 ? "nul_byte" : "bad_quote";
}

/** The text of each record. ASCII, of which most files consist, is decoded once for the entire block. */
function readTexts({ bytes, records }: RecordBlock): string[] {
  const { starts, ends } = records;
  const from = starts[0] ?? 0;
  const to = ends.at(-1) ?? 0;
  if (!isAscii(bytes.subarray(from, to))) return starts.map((start, at) => bytes.toString("utf8", start, ends[at]));
  const text = bytes.toString("latin1", from, to);
  return starts.map((start, at) => text.slice(start - from, (ends[at] ?? 0) - from));
}
