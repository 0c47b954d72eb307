import { closeSync, openSync, readSync } from "node:fs";
import { parse } from "csv-parse/sync";
import iconv from "iconv-lite";
import { RecordScanner, recordFlag } from "./record-scanner.ts";

/** How a file is written, as found or as told. */
export interface FileFormat {
  readonly encoding: string;
  readonly delimiter: string;
  readonly isCrOnly: boolean;
}

/** A file's format and its header. */
export interface FileHead {
  readonly format: FileFormat;
  readonly header: readonly string[];
}

/** A file that cannot be read as CSV at all; the message needs the file's name before it. */
export class FileFormatError extends Error {
  override readonly name = "FileFormatError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The header must end within this; bytes. */
const maxHeaderBytes = 1024 * 1024;
const maxColumns = 1_000;
export const maxRecordBytes = 16 * 1024 * 1024;
export const delimiters = [",", ";", "\t", "|"] as const;

/** The first bytes of files that people give by mistake. */
const signatures: readonly (readonly [string, string])[] = [
  ["PK\u0003\u0004", "a zip archive or an Excel workbook: export it as CSV"],
  ["\u001f\u008b", "a gzip archive: unpack it first"],
  ["%PDF", "a PDF document"],
  ["SQLite format 3\0", "a SQLite database"],
  ["\u0089PNG", "a PNG picture"],
  ["\u00d0\u00cf\u0011\u00e0", "an old Excel workbook: export it as CSV"],
];

/**
 * Reads what a file is from its beginning.
 * @throws FileFormatError when it is empty, binary, or in an encoding that is not known
 */
export function readFileHead(
  path: string,
  told: { readonly encoding?: string | undefined; readonly delimiter?: string | undefined },
): FileHead {
  const bytes = readFirstBytes(path);
  if (bytes.length === 0) throw new FileFormatError("the file is empty", "a first row must name the columns");
  const encoding = findEncoding(bytes, told.encoding);
  const text = iconv.decode(bytes, encoding, { stripBOM: true });
  refuseBinary(bytes, text);
  const isCrOnly = text.includes("\r") && !text.includes("\n");
  const delimiter = told.delimiter ?? findDelimiter(text, isCrOnly);
  return { format: { encoding, delimiter, isCrOnly }, header: readHeader(text, delimiter, isCrOnly) };
}

function readFirstBytes(path: string): Buffer {
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(maxHeaderBytes + 4);
    let filled = 0;
    while (filled < buffer.length) {
      const count = readSync(descriptor, buffer, filled, buffer.length - filled, null);
      if (count === 0) break;
      filled += count;
    }
    return buffer.subarray(0, filled);
  } finally {
    closeSync(descriptor);
  }
}

/** Source: the Unicode standard's byte order marks. */
function findEncoding(bytes: Buffer, told: string | undefined): string {
  if (told !== undefined) {
    const isKnown: boolean = iconv.encodingExists(told);
    if (!isKnown) {
      throw new FileFormatError(
        `the encoding '${told}' is not known`,
        "for example utf-8, utf-16le, windows-1252, iso-8859-1",
      );
    }
    return /^utf-?8$/i.test(told) ? "utf-8" : told;
  }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return "utf-8";
}

function refuseBinary(bytes: Buffer, text: string): void {
  const start = bytes.toString("latin1", 0, 16);
  const known = signatures.find(([signature]) => start.startsWith(signature));
  if (known) throw new FileFormatError(`the file is not CSV but ${known[1]}`);
  const firstLine = text.split(/[\r\n]/, 1)[0] ?? "";
  // oxlint-disable-next-line no-control-regex -- control characters are what tells text from other files
  const controls = firstLine.match(/[\u0000-\u0008\u000e-\u001f]/g)?.length ?? 0;
  if (controls > 0) {
    throw new FileFormatError(
      "the file is not text: its first line holds control characters",
      "give a CSV file; where it is UTF-16 without a mark, say --encoding utf-16le",
    );
  }
}

function findDelimiter(text: string, isCrOnly: boolean): string {
  const line = firstRecordOf(text, ",", isCrOnly);
  const outsideQuotes = line.replace(/"(?:[^"]|"")*"/g, "");
  const counts = delimiters.map((delimiter) => outsideQuotes.split(delimiter).length - 1);
  const most = Math.max(...counts);
  return most === 0 ? "," : (delimiters[counts.indexOf(most)] ?? ",");
}

function readHeader(text: string, delimiter: string, isCrOnly: boolean): string[] {
  const record = firstRecordOf(text, delimiter, isCrOnly);
  const [header] = parse(record, { delimiter, relax_quotes: true, relax_column_count: true });
  if (!header || header.every((name) => name.trim() === "")) {
    throw new FileFormatError("the first row names no columns", "a first row must name the columns");
  }
  if (header.length > maxColumns) {
    throw new FileFormatError(
      `the first row has ${header.length} columns; the most is ${maxColumns}`,
      "is the delimiter right? --delimiter says which it is",
    );
  }
  return header.map((name) => name.trim());
}

function firstRecordOf(text: string, delimiter: string, isCrOnly: boolean): string {
  const bytes = Buffer.from(text, "utf8");
  const scanner = new RecordScanner({
    delimiter: delimiter.charCodeAt(0),
    isCrOnly,
    keyColumn: -1,
    firstLine: 1,
    maxRecordBytes: maxHeaderBytes,
  });
  const { records } = scanner.scan(bytes, true);
  const flags = records.flags[0];
  if (flags === undefined) {
    throw new FileFormatError("the file is empty", "a first row must name the columns");
  }
  if ((flags & (recordFlag.badQuote | recordFlag.tooLong)) !== 0) {
    throw new FileFormatError(
      "the first row cannot be read: a quote in it is never closed, or it is too long",
    );
  }
  return bytes.toString("utf8", records.starts[0], records.ends[0]);
}
