import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";
import { type Entry, fromRandomAccessReader, getFileNameLowLevel, RandomAccessReader, type ZipFile } from "yauzl";
import { FileFormatError } from "../../import-error.ts";
import type { StampedFile, Stretch } from "./file-pieces.ts";

/** A file in a zip archive, as the archive's directory describes it. */
export interface ZipEntry {
  readonly name: string;
  /** 0: stored; 8: deflated. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly bytes: number;
  readonly crc32: number;
  /** The range of its compressed bytes in the archive; undefined if it is damaged. */
  readonly data: Stretch | undefined;
}

/** An archive of exports has fewer. */
const maxDirectoryBytes = 64 * 1024 * 1024;

/**
 * The files and folders in a zip archive, in directory order.
 * @throws FileFormatError if it is damaged, incomplete, or one of several parts, or if bytes follow its end
 */
export function readZipDirectory({ path, stamp }: StampedFile): ZipEntry[] {
  const descriptor = openSync(path, "r");
  try {
    const zip = openZip(new FileReader(descriptor, stamp.bytes), stamp.bytes);
    return readEntries(zip).map((entry) => ({
      name: nameOf(entry),
      method: entry.compressionMethod,
      isEncrypted: entry.isEncrypted(),
      bytes: entry.uncompressedSize,
      crc32: entry.crc32,
      data: findData(zip, entry),
    }));
  } finally {
    closeSync(descriptor);
  }
}

/** Reads synchronously, like everything that reads rows, so that yauzl calls back before it returns. */
class FileReader extends RandomAccessReader {
  readonly #descriptor: number;
  readonly #total: number;

  constructor(descriptor: number, total: number) {
    super();
    this.#descriptor = descriptor;
    this.#total = total;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const isInside = position + length <= this.#total;
    const count = isInside ? readSync(this.#descriptor, buffer, offset, length, position) : 0;
    callback(count === length ? null : new Error("unexpected end of the file"));
  }
}

function openZip(reader: RandomAccessReader, bytes: number): ZipFile {
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: false };
  let [zip, failure]: [ZipFile | undefined, unknown] = [undefined, undefined];
  fromRandomAccessReader(reader, bytes, options, (error, opened) => ([zip, failure] = [opened, error]));
  if (!zip) throw damaged("zip", failure);
  return zip;
}

function readEntries(zip: ZipFile): Entry[] {
  const entries: Entry[] = [];
  let bytes = 0;
  let failure: unknown;
  zip.on("error", (error) => (failure = error));
  zip.on("entry", (entry: Entry) => {
    entries.push(entry);
    bytes += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
  });
  for (let count = 1; count <= zip.entryCount; count++) {
    zip.readEntry();
    // An entry without a name is read later; only a damaged archive has one.
    if (entries.length < count || bytes > maxDirectoryBytes) throw damaged("zip", failure);
  }
  return entries;
}

function nameOf({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string {
  if (isUtf8(fileNameRaw)) return fileNameRaw.toString("utf8");
  return getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
}

/** Its own header may have other extra fields than the directory. */
function findData(zip: ZipFile, entry: Entry): Stretch | undefined {
  let start: number | undefined;
  zip.readLocalFileHeader(entry, { minimal: true }, (error, header) => {
    if (!error) start = header.fileDataStart;
  });
  return start === undefined ? undefined : { start, length: entry.compressedSize };
}

/** The error for an archive that cannot be read. */
export function damaged(kind: "gzip" | "zip", cause?: unknown): FileFormatError {
  // For example, that it is one of several parts.
  const reason = kind === "zip" && cause instanceof Error ? `: ${cause.message}` : "";
  return new FileFormatError(
    `the ${kind} archive is damaged or incomplete${reason}`,
    "create or download it again; nothing was imported from it",
    { cause },
  );
}
