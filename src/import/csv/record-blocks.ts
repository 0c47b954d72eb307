import { readUtf8, type ByteSource } from "./byte-source.ts";
import { maxRecordBytes, type FileFormat } from "./file-format.ts";
import { RecordScanner, type ScannedRecords } from "./record-scanner.ts";

/** A block of complete records with their positions. Valid only until the next one is requested. */
export interface RecordBlock {
  readonly bytes: Buffer;
  readonly records: ScannedRecords;
}

/** The records of a file below its header, block by block; memory use is bounded by the longest record. */
export function* readRecordBlocks(source: ByteSource, format: FileFormat, keyColumn: number): Generator<RecordBlock> {
  const scanner = new RecordScanner({
    delimiter: format.delimiter.charCodeAt(0),
    isCrOnly: format.isCrOnly,
    keyColumn,
    // A converted JSON file has a header that the original does not have.
    firstLine: format.origin === "json" || format.origin === "ndjson" ? 0 : 1,
    maxRecordBytes,
  });
  let rest: Buffer = Buffer.alloc(0);
  let toPassOver = (format.rowsAbove ?? 0) + (format.hasNoHeader ? 0 : 1);
  function scan(bytes: Buffer, isLast: boolean): RecordBlock {
    const scanned = scanner.scan(bytes, isLast);
    rest = bytes.subarray(scanned.rest);
    const count = Math.min(toPassOver, scanned.records.starts.length);
    toPassOver -= count;
    for (const list of Object.values(scanned.records)) (list as number[]).splice(0, count);
    return { bytes, records: scanned.records };
  }
  for (const piece of readUtf8(source, format.encoding)) {
    const block = scan(Buffer.concat([rest, piece]), false);
    if (block.records.starts.length > 0) yield block;
  }
  const last = scan(rest, true);
  if (last.records.starts.length > 0) yield last;
}
