import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { type Entry, fromRandomAccessReader, getFileNameLowLevel, RandomAccessReader, type ZipFile } from "yauzl";
import { FileFormatError } from "../../import-error.ts";
import { listNames } from "../../mapping/names.ts";
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

/** Archives of exports and workbooks have fewer files, tables, and bytes of names. */
const maxDirectoryBytes = 64 * 1024 * 1024;
export const zipLimits = { files: 10_000, tables: 1_000 } as const;

/** The directory that was read last: each table of an archive is opened separately. */
let last: { readonly file: StampedFile; readonly entries: readonly ZipEntry[] } | undefined;

/**
 * The files and folders in a zip archive, in directory order.
 * @throws FileFormatError if it is damaged, incomplete, or one of several parts, if bytes follow its end, or if it has
 * too many files
 */
export function readZipDirectory(file: StampedFile): readonly ZipEntry[] {
  if (!last || !isDeepStrictEqual([last.file.path, last.file.stamp], [file.path, file.stamp])) {
    last = { file, entries: readDirectory(file) };
  }
  return last.entries;
}

function readDirectory({ path, stamp }: StampedFile): ZipEntry[] {
  const descriptor = openSync(path, "r");
  try {
    const zip = openZip(new FileReader(descriptor, stamp.bytes), stamp.bytes);
    const decodeName = ({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry) =>
      getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
    return readEntries(zip).map((entry) => ({
      name: isUtf8(entry.fileNameRaw) ? entry.fileNameRaw.toString("utf8") : decodeName(entry),
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
  if (zip.entryCount > zipLimits.files) throw tooMany(zip.entryCount, "files and folders", zipLimits.files);
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

function tooMany(count: number, what: string, limit: number): FileFormatError {
  return new FileFormatError(
    `the zip archive contains ${formatNumber(count)} ${what}; the limit is ${formatNumber(limit)}`,
    "split it into several archives, or extract it and import the files",
  );
}

const formatNumber = (value: number) => value.toLocaleString("en-US");

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

/** The contents of a zip archive, for an import. */
export interface ZipFiles {
  readonly usable: readonly ZipEntry[];
  /** Names of files that are not tables. */
  readonly passedOver: readonly string[];
}

/** Extensions of tables; each list is used only if no file has an extension of the ones before. */
const tableNames = [/\.(csv|tsv|tab)$/i, /\.(xlsx|ndjson|jsonl)$/i, /\.json$/i, /\.txt$/i] as const;

/**
 * The tables in a zip archive.
 * Assumed: besides tables, an archive contains only notes and metadata.
 * @throws FileFormatError if it is damaged, an OpenDocument spreadsheet, or has no readable table or too many
 */
export function findZipFiles(file: StampedFile): ZipFiles {
  const entries = readZipDirectory(file);
  const names = new Set(entries.map(({ name }) => name));
  if (names.has("mimetype") && names.has("META-INF/manifest.xml")) {
    throw new FileFormatError("the file is an OpenDocument spreadsheet", "save it as .xlsx or CSV");
  }
  const files = entries.filter(({ name }) => !name.endsWith("/"));
  // macOS and others add metadata files.
  const isHidden = (name: string) => name.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");
  const shown = files.filter(({ name }) => !isHidden(name));
  const usable =
    tableNames.map((pattern) => shown.filter(({ name }) => pattern.test(name))).find((found) => found.length > 0) ?? [];
  if (usable.length > zipLimits.tables) throw tooMany(usable.length, "tables", zipLimits.tables);
  const used = new Set(usable);
  const passedOver = files.filter((entry) => !used.has(entry)).map(({ name }) => showName(name));
  if (usable.length === 0) {
    const holds = passedOver.length === 0 ? "it is empty" : `it contains ${listNames(passedOver)}`;
    throw new FileFormatError(
      `the zip archive contains no CSV file, Excel workbook, or JSON file: ${holds}`,
      "add the file to it, or import the file itself",
    );
  }
  for (const entry of usable) rejectUnreadable(entry);
  return { usable, passedOver };
}

/** @throws FileFormatError if there is no longer a file of this name */
export function findZipEntry(file: StampedFile, name: string): ZipEntry {
  const entry = readZipDirectory(file).find((one) => one.name === name);
  if (!entry) throw new FileFormatError(`the zip archive contains no ${showName(name)}`);
  rejectUnreadable(entry);
  return entry;
}

/** A name in an archive is untrusted text and must not control the terminal. */
export function showName(name: string): string {
  return name.replaceAll(/\p{Cc}/gu, "?");
}

/** Whether a zip archive is an Office document, such as an .xlsx file. */
export function isOfficeDocument(file: StampedFile): boolean {
  return readZipDirectory(file).some(({ name }) => name === "[Content_Types].xml");
}

/** @throws FileFormatError if a file in an archive is encrypted, or compressed with an unsupported method */
export function rejectUnreadable({ name, isEncrypted, method }: ZipEntry): void {
  if (isEncrypted) {
    throw new FileFormatError(
      `the zip archive is encrypted: cannot read ${showName(name)}`,
      "extract it with its password and import the extracted file",
    );
  }
  if (method === 0 || method === 8) return;
  throw new FileFormatError(
    `the zip archive uses an unsupported compression method (method ${method} for ${showName(name)})`,
    "extract it and import the file, or compress it with a common method",
  );
}
