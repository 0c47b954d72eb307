import { crc32 } from "node:zlib";
import { Gunzip, InflateRaw } from "minizlib";
import { FileFormatError } from "../../import-error.ts";
import { damaged, type ZipEntry } from "./zip-directory.ts";
import { readPieces, type StampedFile } from "./file-pieces.ts";

/** Compressed bytes processed at a time: they may expand a thousandfold in memory. */
const packedPieceBytes = 32 * 1024;
const unpackedPieceBytes = 256 * 1024;
/** minizlib passes this option on, although it does not declare it. */
const zlibOptions: object = { chunkSize: unpackedPieceBytes };

/**
 * An archive that expands to more than this many bytes, and by more than this factor, is refused. Honest CSV, however
 * repetitive, shrinks to about one part in 200 at most; only runs of one character, such as the empty rows of a
 * spreadsheet, shrink to one in 1,000, which is why small results are always accepted.
 */
const maxExpansion = { bytes: 128 * 1024 * 1024, factor: 300 } as const;

/** The content of a gzip file, with all its members. */
export function inflateGzip(file: StampedFile): Generator<Buffer> {
  const packed = readPieces(file, undefined, packedPieceBytes);
  return inflate(packed, new Gunzip(zlibOptions), "gzip");
}

export function* inflateEntry(file: StampedFile, entry: ZipEntry): Generator<Buffer> {
  if (!entry.data) throw damaged("zip");
  const isStored = entry.method === 0;
  const packed = readPieces(file, entry.data, isStored ? unpackedPieceBytes : packedPieceBytes);
  const pieces = isStored ? packed : inflate(packed, new InflateRaw(zlibOptions), "zip");
  let sum = 0;
  let bytes = 0;
  for (const piece of pieces) {
    sum = crc32(piece, sum);
    bytes += piece.length;
    yield piece;
  }
  if (bytes !== entry.bytes || sum !== entry.crc32) throw damaged("zip");
}

function* inflate(packed: Iterable<Buffer>, inflater: Gunzip | InflateRaw, kind: "gzip" | "zip"): Generator<Buffer> {
  let unpacked: Buffer[] = [];
  let failure: unknown;
  inflater.on("data", (piece: Buffer) => unpacked.push(piece));
  inflater.on("error", (error: unknown) => {
    failure ??= error;
  });
  const take = () => {
    if (failure !== undefined) throw damaged(kind, failure);
    const taken = unpacked;
    unpacked = [];
    return taken;
  };
  let [packedBytes, bytes] = [0, 0];
  for (const piece of packed) {
    inflater.write(piece);
    const taken = take();
    packedBytes += piece.length;
    for (const { length } of taken) bytes += length;
    if (bytes > maxExpansion.bytes && bytes > packedBytes * maxExpansion.factor) throw expandsTooMuch(kind);
    yield* taken;
  }
  inflater.end();
  yield* take();
}

function expandsTooMuch(kind: "gzip" | "zip"): FileFormatError {
  const { bytes, factor } = maxExpansion;
  return new FileFormatError(
    `the ${kind} archive expands to more than ${bytes / 1024 / 1024} MiB and ${factor} times its size`,
    "if you trust the archive, extract it and import the extracted file",
  );
}
