import { closeSync, fstatSync, openSync, readSync, statSync, type Stats } from "node:fs";
import { FileFormatError } from "../../import-error.ts";

/** Identifies the version of a file that was first read. */
export interface FileStamp {
  readonly inode: number;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** A file on disk as it was when it was first read. */
export interface StampedFile {
  readonly path: string;
  readonly stamp: FileStamp;
}

/** A range of a file, in bytes. */
export interface Stretch {
  readonly start: number;
  readonly length: number;
}

const pieceBytes = 256 * 1024;

export function stampFile(path: string): StampedFile {
  return { path, stamp: stampOf(statSync(path)) };
}

/**
 * The bytes of a file, or of a range of it. A piece is valid only until the next one is requested. Reads synchronously,
 * which is faster than by events; long readers must yield now and then.
 * @throws FileFormatError if the file has changed since: an import reads it several times
 */
export function* readPieces(
  { path, stamp }: StampedFile,
  { start, length }: Stretch = { start: 0, length: Infinity },
  maxBytes = pieceBytes,
): Generator<Buffer> {
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(maxBytes);
    for (let done = 0; done < length;) {
      const count = readSync(descriptor, buffer, 0, Math.min(maxBytes, length - done), start + done);
      rejectOther(descriptor, stamp);
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

function rejectOther(descriptor: number, stamp: FileStamp): void {
  const now = stampOf(fstatSync(descriptor));
  if (now.inode === stamp.inode && now.bytes === stamp.bytes && now.modifiedMs === stamp.modifiedMs) return;
  throw new FileFormatError(
    "the file changed while it was being read",
    "do not modify it until the import has finished, or import a copy",
  );
}
