import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { readPieces, type StampedFile } from "../source/containers/file-pieces.ts";
import type { ByteSource } from "./byte-source.ts";
import type { FileFormat } from "./file-format.ts";
import { readRecordBlocks, type RecordBlock } from "./record-blocks.ts";

/**
 * A Bloom filter over byte strings: "not seen" is certain, "seen" has a small error rate, and memory use is constant.
 * Used where an error costs only work, never a row.
 */
export class KeyFilter {
  readonly #bits: Uint32Array;
  readonly #mask: number;

  /** @param bitsLog2 the size in bits, as a power of two */
  constructor(bitsLog2: number) {
    this.#bits = new Uint32Array(2 ** (bitsLog2 - 5));
    this.#mask = 2 ** bitsLog2 - 1;
  }

  has(key: KeyHash): boolean {
    for (let probe = 0; probe < 4; probe++) {
      const bit = (key.low + Math.imul(probe, key.high)) & this.#mask;
      if (((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  add(key: KeyHash): void {
    for (let probe = 0; probe < 4; probe++) {
      const bit = (key.low + Math.imul(probe, key.high)) & this.#mask;
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }
}

interface KeyHash {
  readonly low: number;
  readonly high: number;
}

/** Two FNV-1a hashes of a range of bytes. */
export function hashKey(bytes: Buffer, start: number, end: number): KeyHash {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x85ebca6b);
  }
  return { low: low ^ (low >>> 15), high: (high ^ (high >>> 13)) | 1 };
}

/** The result of scanning a file before anything is sent. */
export interface Survey {
  /** Size and hash of the file as given; for an archive, of the entire archive. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly records: number;
  /** The line of the first row that is not in its encoding, or 0. */
  readonly invalidLine: number;
  /** The number of replacement characters in UTF-8, which stand for characters that were lost before. */
  readonly lostCharacters: number;
  /** The approximate number of rows with the key of an earlier, non-adjacent row. */
  readonly repeatedKeys: number;
  /** The line of the first such row, or 0. */
  readonly firstRepeatLine: number;
  /** Contains at least every key whose rows are not all adjacent; undefined if all rows are adjacent. */
  readonly repeated: KeyFilter | undefined;
}

/** Sizes of the filters of all keys (8 MiB) and of repeated keys (2 MiB), in bits, as powers of two. */
const seenBitsLog2 = 26;
const repeatedBitsLog2 = 24;

const replacement = Buffer.from("\uFFFD");

/** Number of blocks after which signals and timers are handled. */
const blocksInARow = 32;

/**
 * Scans a file once.
 * @param sha256 the file's hash, if already known
 * @param onRecords called periodically with the number of records
 * @throws FileFormatError if it is a damaged archive
 */
export async function surveyFile(
  source: ByteSource,
  format: FileFormat,
  keyColumn: number,
  sha256?: string,
  onRecords: (count: number) => void = () => {},
): Promise<Survey> {
  const findInvalid = format.encoding === "utf-8" ? findInvalidUtf8 : findUnknownLetter;
  const isJudged = !/^(?:utf-?(?:16|32)|ucs-?[24])/i.test(format.encoding);
  const keys = keyColumn < 0 ? undefined : new RepeatedKeys();
  let records = 0;
  let blocks = 0;
  let invalidLine = 0;
  let lostCharacters = 0;
  for (const block of readRecordBlocks(source, format, keyColumn)) {
    records += block.records.starts.length;
    if (isJudged) invalidLine ||= findInvalid(block);
    if (format.encoding === "utf-8") lostCharacters += countReplacements(block);
    keys?.addBlock(block);
    if (++blocks % blocksInARow !== 0) continue;
    onRecords(records);
    await setImmediate();
  }
  return {
    sha256: sha256 ?? (await hashFile(source)),
    sizeBytes: source.stamp.bytes,
    records,
    invalidLine,
    lostCharacters,
    repeatedKeys: keys?.count ?? 0,
    firstRepeatLine: keys?.firstLine ?? 0,
    repeated: keys?.count ? keys.repeated : undefined,
  };
}

/** The range of a key without surrounding quotes and whitespace, as the row's cell will have it. */
export function trimKey(bytes: Buffer, start: number, end: number): readonly [number, number] {
  let from = start;
  let to = end;
  if (to - from >= 2 && bytes[from] === 34 && bytes[to - 1] === 34) {
    from++;
    to--;
  }
  while (from < to && (bytes[from] ?? 0) <= 32) from++;
  while (to > from && (bytes[to - 1] ?? 0) <= 32) to--;
  return [from, to];
}

class RepeatedKeys {
  readonly repeated = new KeyFilter(repeatedBitsLog2);
  readonly #seen = new KeyFilter(seenBitsLog2);
  #lastLow = 0;
  #lastHigh = 0;
  count = 0;
  firstLine = 0;

  addBlock({ bytes, records }: RecordBlock): void {
    for (let at = 0; at < records.starts.length; at++) {
      const start = records.keyStarts[at] ?? -1;
      if (start < 0) continue;
      const [from, to] = trimKey(bytes, start, records.keyEnds[at] ?? 0);
      if (from === to) continue;
      const key = hashKey(bytes, from, to);
      if (key.low === this.#lastLow && key.high === this.#lastHigh) continue;
      this.#lastLow = key.low;
      this.#lastHigh = key.high;
      if (this.#seen.has(key)) {
        this.repeated.add(key);
        this.count++;
        this.firstLine ||= records.lines[at] ?? 0;
      } else {
        this.#seen.add(key);
      }
    }
  }
}

function findInvalidUtf8({ bytes, records }: RecordBlock): number {
  const last = records.starts.length - 1;
  if (isUtf8(bytes.subarray(records.starts[0], records.ends[last]))) return 0;
  const at = records.starts.findIndex((start, index) => !isUtf8(bytes.subarray(start, records.ends[index])));
  return records.lines[at] ?? 0;
}

/** In other encodings, an invalid byte has become the replacement character. */
function findUnknownLetter({ bytes, records }: RecordBlock): number {
  const last = records.starts.length - 1;
  const found = bytes.subarray(0, records.ends[last]).indexOf(replacement, records.starts[0]);
  if (found < 0) return 0;
  return records.lines[records.ends.findIndex((end) => end > found)] ?? 0;
}

function countReplacements({ bytes, records }: RecordBlock): number {
  const text = bytes.subarray(records.starts[0], records.ends[records.starts.length - 1]);
  let count = 0;
  for (let at = text.indexOf(replacement); at >= 0; at = text.indexOf(replacement, at + replacement.length)) count++;
  return count;
}

/** The SHA-256 of a file's bytes, in hexadecimal. */
export async function hashFile(file: StampedFile): Promise<string> {
  const hash = createHash("sha256");
  let pieces = 0;
  for (const piece of readPieces(file)) {
    hash.update(piece);
    if (++pieces % blocksInARow === 0) await setImmediate();
  }
  return hash.digest("hex");
}
