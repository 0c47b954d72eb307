import iconv from "iconv-lite";
import { readPieces, stampFile, type StampedFile } from "../source/containers/file-pieces.ts";
import { inflateEntry, inflateGzip } from "../source/containers/inflate.ts";
import { findZipEntry, type ZipEntry } from "../source/containers/zip-directory.ts";

export const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A file whose text is read, directly or from an archive. */
export interface ByteSource extends StampedFile {
  readonly packed: "gzip" | ZipEntry | undefined;
}

/** The container formats, by the first bytes of a file; its name does not matter. */
export function recognizePacking(file: StampedFile): "gzip" | "zip" | undefined {
  const [start] = readPieces(file, { start: 0, length: 4 });
  if (start === undefined) return undefined;
  if (start[0] === 0x1f && start[1] === 0x8b) return "gzip";
  const zips = ["PK\u0003\u0004", "PK\u0005\u0006", "PK\u0007\b"];
  return zips.includes(start.toString("latin1")) ? "zip" : undefined;
}

/**
 * Opens a file, or the contents of a gzip file or of one file in a zip archive.
 * @throws FileFormatError if an archive is damaged or has no such file
 */
export function openSource(path: string, entry?: string): ByteSource {
  const file = stampFile(path);
  if (entry !== undefined) return { ...file, packed: findZipEntry(file, entry) };
  return { ...file, packed: recognizePacking(file) === "gzip" ? "gzip" : undefined };
}

/** The uncompressed bytes of a text, in pieces; each is valid only until the next one is requested. */
export function readBytes(source: ByteSource): Generator<Buffer> {
  if (source.packed === undefined) return readPieces(source);
  return source.packed === "gzip" ? inflateGzip(source) : inflateEntry(source, source.packed);
}

/** The first bytes of a text, at most as many as given. */
export function readStart(pieces: Iterable<Buffer>, most: number): Buffer {
  const start: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    start.push(Buffer.from(piece));
    bytes += piece.length;
    if (bytes >= most) break;
  }
  return Buffer.concat(start).subarray(0, most);
}

/** The text of a file as UTF-8 in pieces, without its byte order mark. */
export function readUtf8(source: ByteSource, encoding: string): Generator<Buffer> {
  const pieces = readBytes(source);
  return encoding === "utf-8" ? dropMark(pieces) : decode(pieces, encoding);
}

function* dropMark(pieces: Iterable<Buffer>): Generator<Buffer> {
  // Decompressed data may begin with pieces shorter than a byte order mark.
  let start: Buffer | undefined = Buffer.alloc(0);
  for (const piece of pieces) {
    if (start === undefined) {
      yield piece;
      continue;
    }
    start = start.length === 0 ? piece : Buffer.concat([start, piece]);
    if (start.length < utf8Mark.length) {
      start = Buffer.from(start);
      continue;
    }
    yield start.indexOf(utf8Mark) === 0 ? start.subarray(utf8Mark.length) : start;
    start = undefined;
  }
  if (start !== undefined && start.length > 0) yield start;
}

function* decode(pieces: Iterable<Buffer>, encoding: string): Generator<Buffer> {
  const decoder = iconv.getDecoder(encoding, { stripBOM: true });
  // The first half of a surrogate pair, whose other half is in the next piece.
  let half = "";
  for (const piece of pieces) {
    const text = half + decoder.write(piece);
    half = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(-1) : "";
    if (text.length > half.length) yield Buffer.from(half === "" ? text : text.slice(0, -1));
  }
  const rest = half + (decoder.end() ?? "");
  if (rest !== "") yield Buffer.from(rest);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
