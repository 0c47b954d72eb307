import { closeSync, fstatSync, openSync, readSync, statSync, type Stats } from "node:fs";
import { FileFormatError } from "../../csv/file-format-error.ts";

/** What tells that a file is still the one that was looked at first. */
export interface FileStamp {
  readonly inode: number;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** A file on disk as it was when it was first looked at. */
export interface StampedFile {
  readonly path: string;
  readonly stamp: FileStamp;
}

/** A part of a file; bytes. */
export interface Stretch {
  readonly start: number;
  readonly length: number;
}

const pieceBytes = 256 * 1024;

export function stampFile(path: string): StampedFile {
  return { path, stamp: stampOf(statSync(path)) };
}

/**
 * The bytes of a file as they stand, or of a stretch of it. A piece is only good until the next one is asked for.
 * Read synchronously, which is faster than by events; whoever reads long gives way now and then.
 * @throws FileFormatError when the file is not the one that was stamped: an import reads it several times
 */
export function* readPieces(
  { path, stamp }: StampedFile,
  { start, length }: Stretch = { start: 0, length: Infinity },
  mostBytes = pieceBytes,
): Generator<Buffer> {
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(mostBytes);
    for (let done = 0; done < length;) {
      const count = readSync(descriptor, buffer, 0, Math.min(mostBytes, length - done), start + done);
      refuseOther(descriptor, stamp);
      if (count === 0) return;
      done += count;
      yield buffer.subarray(0, count);
    }
  } finally {
    closeSync(descriptor);
  }
}

function stampOf({ ino, size, mtimeMs }: Stats): FileStamp {
  return { inode: ino, bytes: size, modifiedMs: mtimeMs };
}

function refuseOther(descriptor: number, stamp: FileStamp): void {
  const now = stampOf(fstatSync(descriptor));
  if (now.inode === stamp.inode && now.bytes === stamp.bytes && now.modifiedMs === stamp.modifiedMs) return;
  throw new FileFormatError(
    "the file was changed while it was read",
    "leave it alone until the import has ended, or import a copy of it",
  );
}
