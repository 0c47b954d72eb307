import { FileFormatError } from "../../import-error.ts";
import { readZipDirectory, type ZipEntry } from "./zip-directory.ts";
import type { StampedFile } from "./file-pieces.ts";

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
 * @throws FileFormatError if it is damaged, an OpenDocument spreadsheet, or has no readable table
 */
export function findZipFiles(file: StampedFile): ZipFiles {
  const entries = readZipDirectory(file);
  rejectDocuments(entries);
  const files = entries.filter(({ name }) => !name.endsWith("/"));
  const shown = files.filter(({ name }) => !isHidden(name));
  const usable =
    tableNames.map((pattern) => shown.filter(({ name }) => pattern.test(name))).find((found) => found.length > 0) ?? [];
  const passedOver = files.filter((entry) => !usable.includes(entry)).map(({ name }) => showName(name));
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
  const entry = findZipFiles(file).usable.find((one) => one.name === name);
  if (entry) return entry;
  throw new FileFormatError(`the zip archive contains no ${showName(name)}`);
}

/** A few names, and the number of further ones. */
export function listNames(names: readonly string[]): string {
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  return `${names.slice(0, 10).join(", ")}${more}`;
}

/** A name in an archive is untrusted text and must not control the terminal. */
export function showName(name: string): string {
  return name.replaceAll(/\p{Cc}/gu, "?");
}

/** Metadata files that macOS and others add. */
function isHidden(name: string): boolean {
  return name.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");
}

function rejectDocuments(entries: readonly ZipEntry[]): void {
  const names = new Set(entries.map(({ name }) => name));
  if (!names.has("mimetype") || !names.has("META-INF/manifest.xml")) return;
  throw new FileFormatError("the file is an OpenDocument spreadsheet", "save it as .xlsx or CSV");
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
