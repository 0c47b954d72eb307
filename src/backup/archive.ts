import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { type Entry, extract, pack } from "tar-stream";

/** Why a file is not a complete archive. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

/** An archive begins with a small text file, which is read into memory. */
const maxTextBytes = 1_000_000;
const pieceBytes = 1_048_576;

/** An entry whose content is in a file. */
export interface FileEntry {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

export interface ArchiveSettings {
  /** The text file at the beginning of the archive. */
  readonly text: { readonly name: string; readonly content: string };
  readonly file: FileEntry;
  readonly modifiedMs: number;
  /** Whether compressing the file again would only take time. */
  readonly isCompressed: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Writes a `.tar.gz` of a small text and a file of any size. The target must not exist. Only its owner can read it. */
export async function writeArchive(target: string, settings: ArchiveSettings): Promise<void> {
  const { text: beginning, file, modifiedMs, isCompressed, signal } = settings;
  const header = { mode: 0o600, mtime: new Date(modifiedMs) };
  const tar = pack();
  const fill = async () => {
    tar.entry({ ...header, name: beginning.name }, beginning.content);
    const entry = tar.entry({ ...header, name: file.name, size: file.bytes });
    await pipeline(createReadStream(file.path, { highWaterMark: pieceBytes }), entry);
    tar.finalize();
  };
  // The fastest level: a higher one takes several times as long for files that are a tenth smaller.
  const gzip = createGzip({ level: isCompressed ? 0 : 1 });
  const output = createWriteStream(target, { flags: "wx", mode: 0o600, flush: true });
  await Promise.all([pipeline(tar, gzip, output, { signal }), fill()]);
}

/**
 * Reads the text at the beginning of an archive.
 * @throws ArchiveError
 */
export async function readArchiveText(path: string, name: string): Promise<string> {
  try {
    for await (const entry of readEntries(path, [name])) {
      if ((entry.header.size ?? 0) > maxTextBytes) throw invalid(path, `${name} is too large`);
      return await text(entry);
    }
    throw invalid(path, "it is incomplete");
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
): Promise<ReadFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  // Reads to the end of the archive, which contains its checksum, before the output ends.
  const listParts = async function* (): AsyncGenerator<Buffer> {
    try {
      for await (const entry of readEntries(path, [names.text, names.file])) {
        for await (const part of entry) {
          if (entry.header.name !== names.file) continue;
          hash.update(part);
          bytes += part.length;
          // A small archive may expand to any size.
          if (bytes > names.bytes) throw invalid(path, `${names.file} is larger than ${names.bytes} bytes`);
          yield part;
        }
      }
    } catch (error) {
      throw await toArchiveError(path, error);
    }
  };
  await pipeline(listParts, output);
  return { bytes, sha256: hash.digest("hex") };
}

/** Computes the SHA-256 of a file, in hexadecimal. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: pieceBytes }), hash, { signal });
  return hash.digest("hex");
}

/** How a gzip file begins. */
const gzipMark = 0x1f_8b;

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE() === gzipMark;
  } finally {
    await file.close();
  }
}

/**
 * Reads the entries of an archive.
 * @throws ArchiveError if it does not begin with the given names
 */
async function* readEntries(path: string, names: readonly string[]): AsyncGenerator<Entry> {
  const source = createReadStream(path, { highWaterMark: pieceBytes });
  const tar = extract();
  const reading = pipeline(source, createGunzip({ chunkSize: 262_144 }), tar);
  // The same error ends the entries.
  reading.catch(() => {});
  let count = 0;
  try {
    for await (const entry of tar) {
      const name = names[count++];
      if (name !== undefined && entry.header.name !== name) throw invalid(path, `it does not contain ${name}`);
      yield entry;
    }
    await reading;
    if (count < names.length) throw invalid(path, "it is incomplete");
  } finally {
    source.destroy();
  }
}

/** Converts the error of a damaged archive. Those of the system have a code, and are returned unchanged. */
async function toArchiveError(path: string, error: unknown): Promise<unknown> {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ArchiveError || (code !== undefined && !code.startsWith("Z_"))) return error;
  if (code === "Z_BUF_ERROR") return invalid(path, "it is incomplete");
  return invalid(path, (await isGzip(path)) ? `it is damaged (${message})` : "it is not a .tar.gz file");
}

function invalid(path: string, reason: string): ArchiveError {
  return new ArchiveError(`${path}: not a complete backup: ${reason}`);
}
