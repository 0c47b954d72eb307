import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { PassThrough, type Readable, type Transform, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { extract, pack } from "tar-stream";
import { UserError } from "../config/user-error.ts";
import { ageMark, decrypt, encrypt, type Identity } from "./encryption.ts";

/** Why a file is not a complete archive. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

/** An archive begins with a small text file, which is read into memory. */
const maxTextBytes = 1_000_000;
const pieceBytes = 1_048_576;

/** How much may be read that is not content of a file: buffers, headers, and the zeros at the end. A header is in memory. */
const maxOverheadBytes = 4_194_304;

/** A file to read. */
interface Source {
  readonly path: string;
  /** Decrypts the file, if it is encrypted. */
  readonly unmask?: (() => Transform) | undefined;
}

/** An entry whose content is in a file. */
export interface FileEntry extends Source {
  readonly name: string;
  readonly bytes: number;
}

export interface ArchiveSettings {
  /** The text file at the beginning of the archive. */
  readonly text: { readonly name: string; readonly content: string };
  readonly file: FileEntry;
  readonly modifiedMs: number;
  /** Whether compressing the file again would only take time. */
  readonly isCompressed: boolean;
  /** The public keys for which the archive is encrypted (default: it is not encrypted). */
  readonly recipients?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Writes a `.tar.gz` of a small text and a file of any size, encrypted if there are recipients. The target must not exist. Only its owner can read it. */
export async function writeArchive(target: string, settings: ArchiveSettings): Promise<void> {
  const { text: beginning, file, modifiedMs, isCompressed, recipients, signal } = settings;
  const header = { mode: 0o600, mtime: new Date(modifiedMs) };
  const tar = pack();
  const fill = async () => {
    tar.entry({ ...header, name: beginning.name }, beginning.content);
    const entry = tar.entry({ ...header, name: file.name, size: file.bytes });
    await pipeline(...openSource(file), entry);
    tar.finalize();
  };
  // The fastest level: a higher one takes several times as long for files that are a tenth smaller.
  const gzip = createGzip({ level: isCompressed ? 0 : 1 });
  const output = createWriteStream(target, { flags: "wx", mode: 0o600, flush: true });
  await Promise.all([pipeline(tar, gzip, (chunks) => encrypt(chunks, recipients), output, { signal }), fill()]);
}

function openSource({ path, unmask }: Source): readonly [Readable, Transform] {
  return [createReadStream(path, { highWaterMark: pieceBytes }), unmask?.() ?? new PassThrough()];
}

/**
 * Reads the text at the beginning of an archive.
 * @throws ArchiveError
 */
export async function readArchiveText(path: string, name: string, identity?: Identity): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const { part, size } of readParts(path, [{ name, maxBytes: maxTextBytes }], identity)) {
      parts.push(part);
      bytes += part.length;
      if (bytes === size) break;
    }
    return Buffer.concat(parts).toString();
  } catch (error) {
    throw await toArchiveError(path, error);
  }
}

/** The file of an archive, as it was read. */
export interface ReadFile {
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * Writes the file of an archive to a stream, and reads the archive to its end. Ends the stream, or destroys it if that fails.
 * @throws ArchiveError if the archive is damaged or incomplete
 */
export async function extractFile(
  path: string,
  names: { readonly text: string; readonly file: string; readonly bytes: number },
  output: Writable,
  identity?: Identity,
): Promise<ReadFile> {
  const hash = createHash("sha256");
  const files = [
    { name: names.text, maxBytes: maxTextBytes },
    { name: names.file, maxBytes: names.bytes },
  ];
  let bytes = 0;
  // Reads to the end of the archive, which contains its checksum, before the output ends.
  const listParts = async function* (): AsyncGenerator<Buffer> {
    try {
      for await (const { name, part } of readParts(path, files, identity)) {
        if (name !== names.file) continue;
        hash.update(part);
        bytes += part.length;
        yield part;
      }
    } catch (error) {
      throw await toArchiveError(path, error);
    }
  };
  await pipeline(listParts, output);
  return { bytes, sha256: hash.digest("hex") };
}

/** Computes the SHA-256 of a file, in hexadecimal. */
export async function hashFile(source: Source, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(...openSource(source), hash, { signal });
  return hash.digest("hex");
}

/** How a gzip file begins. */
const gzipMark = Buffer.from([0x1f, 0x8b]);

async function hasMark(path: string, mark: Buffer): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(mark.length), 0, mark.length, 0);
    return buffer.equals(mark);
  } finally {
    await file.close();
  }
}

/** Whether a file is encrypted with age. */
export function isEncrypted(path: string): Promise<boolean> {
  return hasMark(path, ageMark);
}

interface Part {
  readonly name: string;
  /** The size of the file. */
  readonly size: number;
  readonly part: Buffer;
}

/**
 * Reads the files of an archive. Each begins with an empty part.
 * @throws ArchiveError if it does not begin with these files, or if it contains anything else
 */
async function* readParts(
  path: string,
  files: readonly { readonly name: string; readonly maxBytes: number }[],
  identity: Identity | undefined,
): AsyncGenerator<Part> {
  const needsKey = await isEncrypted(path);
  const source = createReadStream(path, { highWaterMark: pieceBytes });
  const tar = extract();
  let overhead = 0;
  const countOverhead = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      overhead += chunk.length;
      if (overhead > maxOverheadBytes) throw invalid(path, "its headers are too large");
      yield chunk;
    }
  };
  const archive = needsKey ? decrypt(source, path, identity) : source;
  const reading = pipeline(archive, createGunzip({ chunkSize: 262_144 }), countOverhead, tar);
  // The same error ends the entries.
  reading.catch(() => {});
  let count = 0;
  try {
    for await (const entry of tar) {
      const { name, type, size = 0 } = entry.header;
      const expected = files[count++];
      if (!expected) throw invalid(path, "it contains more than two files");
      if (name !== expected.name || type !== "file") throw invalid(path, `it does not contain ${expected.name}`);
      if (!Number.isSafeInteger(size) || size < 0) throw invalid(path, `the size of ${name} is invalid`);
      // A small archive may expand to any size.
      if (size > expected.maxBytes) throw invalid(path, `${name} is larger than ${expected.maxBytes} bytes`);
      yield { name, size, part: Buffer.alloc(0) };
      for await (const part of entry) {
        overhead -= part.length;
        yield { name, size, part };
      }
    }
    await reading;
    if (count < files.length) throw incomplete(path);
  } finally {
    source.destroy();
  }
}

/** Converts the error of a damaged archive. Those of the system have a code, and are returned unchanged. */
async function toArchiveError(path: string, error: unknown): Promise<unknown> {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ArchiveError || error instanceof UserError) return error;
  if (code !== undefined && !code.startsWith("Z_")) return error;
  if (await isEncrypted(path)) {
    return new ArchiveError(`${path}: the backup is damaged or incomplete: it cannot be decrypted. Copy it again.`);
  }
  if (code === "Z_BUF_ERROR") return incomplete(path);
  return invalid(path, (await hasMark(path, gzipMark)) ? `it is damaged (${message})` : "it is not a .tar.gz file");
}

function incomplete(path: string): ArchiveError {
  return new ArchiveError(`${path}: the backup is incomplete: the file ends early. Copy it again.`);
}

function invalid(path: string, reason: string): ArchiveError {
  return new ArchiveError(`${path}: not a backup that can be restored: ${reason}`);
}
