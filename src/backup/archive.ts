import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

/** Why a file is not a complete archive. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

/** Tar consists of blocks of this size, in bytes. */
const blockBytes = 512;

/** A header contains a small text file, which is read into memory. */
const maxTextBytes = 1_000_000;

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
  const { text, file, modifiedMs, isCompressed, signal } = settings;
  const content = Buffer.from(text.content);
  async function* listParts(): AsyncGenerator<Buffer> {
    yield createHeader(text.name, content.length, modifiedMs);
    yield padded(content);
    yield createHeader(file.name, file.bytes, modifiedMs);
    for await (const chunk of createReadStream(file.path, { highWaterMark: 1_048_576 })) yield chunk as Buffer;
    // Two empty blocks end the archive.
    yield Buffer.alloc(paddingOf(file.bytes) + 2 * blockBytes);
  }
  // The fastest level: a higher one takes several times as long for files that are a tenth smaller.
  const gzip = createGzip({ level: isCompressed ? 0 : 1 });
  const output = createWriteStream(target, { flags: "wx", mode: 0o600, flush: true });
  await pipeline(listParts, gzip, output, { signal });
}

/**
 * Reads the text at the beginning of an archive.
 * @throws ArchiveError
 */
export async function readArchiveText(path: string, name: string): Promise<string> {
  const reader = new ArchiveReader(path);
  try {
    return await reader.readText(name);
  } finally {
    reader.close();
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
  names: { readonly text: string; readonly file: string },
  output: Writable,
): Promise<ReadFile> {
  const reader = new ArchiveReader(path);
  try {
    await reader.readText(names.text);
    return await reader.readFile(names.file, output);
  } finally {
    reader.close();
  }
}

/** Computes the SHA-256 of a file, in hexadecimal. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1_048_576 }), hash, { signal });
  return hash.digest("hex");
}

/** Why compressed data cannot be read, by the code of zlib and its message. */
const reasons: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: "it is incomplete",
  "Z_DATA_ERROR: incorrect header check": "it is not a .tar.gz file",
};

class ArchiveReader {
  readonly #path: string;
  readonly #source: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
    const file = createReadStream(path, { highWaterMark: 1_048_576 });
    const gunzip = createGunzip({ chunkSize: 262_144 });
    file.on("error", (error) => gunzip.destroy(error));
    this.#source = file;
    this.#chunks = file.pipe(gunzip)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async readText(name: string): Promise<string> {
    const bytes = await this.#readHeader(name);
    if (bytes > maxTextBytes) throw this.#invalid(`${name} is too large`);
    const text = await this.#readAll(bytes);
    await this.#readAll(paddingOf(bytes));
    return text.toString("utf8");
  }

  async readFile(name: string, output: Writable): Promise<ReadFile> {
    const bytes = await this.#readHeader(name);
    const hash = createHash("sha256");
    const listParts = async function* (this: ArchiveReader): AsyncGenerator<Buffer> {
      for await (const part of this.#read(bytes)) {
        hash.update(part);
        yield part;
      }
      // The end of the compressed data contains its checksum.
      while ((await this.#next()) !== undefined);
    };
    await pipeline(listParts.call(this), output);
    return { bytes, sha256: hash.digest("hex") };
  }

  close(): void {
    this.#source.destroy();
  }

  async #readHeader(name: string): Promise<number> {
    const header = parseHeader(await this.#readAll(blockBytes));
    if (header?.name !== name) throw this.#invalid(`it does not contain ${name}`);
    return header.bytes;
  }

  async #readAll(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.#read(bytes)) parts.push(part);
    return Buffer.concat(parts);
  }

  async *#read(bytes: number): AsyncGenerator<Buffer> {
    let left = bytes;
    while (left > 0) {
      const chunk = this.#rest.length > 0 ? this.#rest : await this.#next();
      if (!chunk) throw this.#invalid("it is incomplete");
      const part = chunk.subarray(0, Math.min(left, chunk.length));
      this.#rest = chunk.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async #next(): Promise<Buffer | undefined> {
    try {
      const { value, done } = await this.#chunks.next();
      return done === true ? undefined : value;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code?.startsWith("Z_") !== true) throw error;
      throw this.#invalid(reasons[code] ?? reasons[`${code}: ${message}`] ?? `it is damaged (${message})`);
    }
  }

  #invalid(reason: string): ArchiveError {
    return new ArchiveError(`${this.#path}: not a complete backup: ${reason}`);
  }
}

/** Octal digits of the size field. A larger size is binary, marked by its first bit. */
const maxOctalSize = 8 ** 11;

/** Creates a header for a file. Source: POSIX "ustar", and the GNU extension for sizes of 8 GiB and more. */
function createHeader(name: string, bytes: number, modifiedMs: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7) + octal(0, 7), 108);
  if (bytes < maxOctalSize) header.write(octal(bytes, 11), 124);
  else {
    header.writeUInt8(0x80, 124);
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  header.write(octal(Math.max(0, Math.floor(modifiedMs / 1_000)), 11), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257, "latin1");
  header.write(`${octal(sumOf(header), 6)} `, 148);
  return header;
}

function parseHeader(header: Buffer): { readonly name: string; readonly bytes: number } | undefined {
  const sum = Number.parseInt(header.toString("latin1", 148, 154), 8);
  const blank = Buffer.from(header);
  blank.fill(" ", 148, 156);
  if (header.toString("latin1", 257, 262) !== "ustar" || sum !== sumOf(blank)) return undefined;
  const name = header.toString("utf8", 0, header.indexOf(0));
  const isBinary = (header[124] ?? 0) >= 0x80;
  const bytes = isBinary
    ? Number(header.readBigUInt64BE(128))
    : Number.parseInt(header.toString("latin1", 124, 135), 8);
  return { name, bytes };
}

function sumOf(header: Buffer): number {
  return header.reduce((sum, byte) => sum + byte, 0);
}

function paddingOf(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes;
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc(paddingOf(content.length))]);
}
