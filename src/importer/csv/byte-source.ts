import { closeSync, openSync, readSync } from "node:fs";
import iconv from "iconv-lite";

const pieceBytes = 256 * 1024;

/**
 * The bytes of a file as UTF-8, in pieces, without its byte order mark.
 * Read synchronously, which is faster than by events; whoever reads long gives way now and then.
 */
export function* readUtf8(path: string, encoding: string): Generator<Buffer> {
  const decoder = encoding === "utf-8" ? undefined : iconv.getDecoder(encoding, { stripBOM: true });
  let isFirst = true;
  for (const piece of readPieces(path)) {
    const text = decoder?.write(piece);
    const bytes = text === undefined ? piece : Buffer.from(text, "utf8");
    yield isFirst ? withoutBom(bytes) : bytes;
    isFirst = false;
  }
  const rest = decoder?.end();
  if (rest) yield Buffer.from(rest, "utf8");
}

/** The bytes of a file as they stand. A piece is only good until the next one is asked for. */
export function* readPieces(path: string): Generator<Buffer> {
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(pieceBytes);
    for (;;) {
      const count = readSync(descriptor, buffer, 0, pieceBytes, null);
      if (count === 0) return;
      yield buffer.subarray(0, count);
    }
  } finally {
    closeSync(descriptor);
  }
}

function withoutBom(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
