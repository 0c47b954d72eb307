import { FileFormatError } from "../../csv/file-format-error.ts";
import { readZipDirectory, type ZipEntry } from "./zip-directory.ts";
import type { StampedFile } from "./file-pieces.ts";

/** What a zip archive holds for an import. */
export interface ZipFiles {
  readonly usable: readonly ZipEntry[];
  /** Names of files that are none to import. */
  readonly passedOver: readonly string[];
}

/** Names that tables have; those of the second list may be anything, and count where there are none of the first. */
const tableNames = [/\.(csv|tsv|tab)$/i, /\.txt$/i] as const;

/**
 * The tables in a zip archive.
 * Assumed: a `.txt` is a table only where the archive has no `.csv`, `.tsv` or `.tab`.
 * @throws FileFormatError when it is damaged, a workbook, or has no table that can be read
 */
export function findZipFiles(file: StampedFile): ZipFiles {
  const entries = readZipDirectory(file);
  refuseDocuments(entries);
  const files = entries.filter(({ name }) => !name.endsWith("/"));
  const shown = files.filter(({ name }) => !isHidden(name));
  const usable =
    tableNames
      .map((pattern) => shown.filter(({ name }) => pattern.test(name)))
      .find((found) => found.length > 0) ?? [];
  const passedOver = files.filter((entry) => !usable.includes(entry)).map(({ name }) => showName(name));
  if (usable.length === 0) {
    const holds = passedOver.length === 0 ? "it is empty" : `it holds ${listNames(passedOver)}`;
    throw new FileFormatError(
      `the zip archive has no CSV file in it: ${holds}`,
      "put the CSV file into it, or give it as it is",
    );
  }
  for (const entry of usable) refuseUnreadable(entry);
  return { usable, passedOver };
}

/** @throws FileFormatError when there is none of this name any more */
export function findZipEntry(file: StampedFile, name: string): ZipEntry {
  const entry = findZipFiles(file).usable.find((one) => one.name === name);
  if (entry) return entry;
  throw new FileFormatError(`the zip archive holds no ${showName(name)}`);
}

/** A few names, and how many more there are. */
export function listNames(names: readonly string[]): string {
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  return `${names.slice(0, 10).join(", ")}${more}`;
}

/** A name out of an archive is a stranger's text, and may not move a screen's cursor. */
export function showName(name: string): string {
  return name.replaceAll(/\p{Cc}/gu, "?");
}

/** What macOS and others add beside the files that a person put in. */
function isHidden(name: string): boolean {
  return name.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");
}

function refuseDocuments(entries: readonly ZipEntry[]): void {
  const names = new Set(entries.map(({ name }) => name));
  const what = names.has("[Content_Types].xml")
    ? "an Excel workbook or another Office document"
    : names.has("mimetype") && names.has("META-INF/manifest.xml")
      ? "an OpenDocument spreadsheet"
      : undefined;
  if (what !== undefined) throw new FileFormatError(`the file is not CSV but ${what}: export it as CSV`);
}

function refuseUnreadable({ name, isEncrypted, method }: ZipEntry): void {
  if (isEncrypted) {
    throw new FileFormatError(
      `the zip archive is encrypted: ${showName(name)} cannot be read`,
      "unpack it with its password, and give the file",
    );
  }
  if (method === 0 || method === 8) return;
  throw new FileFormatError(
    `the zip archive is packed in a way that is not known here (method ${method} for ${showName(name)})`,
    "unpack it, and give the file or pack it again in the usual way",
  );
}
