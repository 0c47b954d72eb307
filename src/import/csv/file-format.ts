import iconv from "iconv-lite";
import { openSource, readBytes, readStart, type ByteSource } from "./byte-source.ts";
import { fallbackEncoding, findUtfFault, guessEncoding, type EncodingGuess } from "./encoding-detection.ts";
import { FileFormatError } from "../import-error.ts";
import { findHeader, type HeaderSearch, type LocatedHeader, noNames } from "./locate-header.ts";
import { hasCrOnly, readSepLine } from "./text-format.ts";

/** The format of a file, detected or given by flags. */
export interface FileFormat {
  readonly encoding: string;
  readonly delimiter: string;
  readonly isCrOnly: boolean;
  /** The number of records above the header: a title, or a line that declares the delimiter, as Excel writes it. */
  readonly rowsAbove?: number;
  /** Whether the first row is a record. */
  readonly hasNoHeader?: boolean;
  /** What the file was converted from. Its lines then have the numbers of the original's records. */
  readonly origin?: "sheet" | "ndjson" | "json";
}

/** What the number of a record counts. */
export type RecordUnit = "line" | "row" | "element";

export function unitOf({ origin }: FileFormat): RecordUnit {
  return origin === "sheet" ? "row" : origin === "json" ? "element" : "line";
}

/** Where a record is, for messages: `orders.csv:12`, or `orders.xlsx, row 12`. */
export function describePlace(given: string, record: number, unit: RecordUnit = "line"): string {
  return unit === "line" ? `${given}:${record}` : `${given}, ${unit} ${record}`;
}

/** A file's format and its header. */
export interface FileHead {
  readonly source: ByteSource;
  readonly format: FileFormat;
  readonly header: readonly string[];
  /** The row of the header, if a title was found above it. */
  readonly foundRow?: number;
  /** Why the encoding was assumed. */
  readonly assumption?: string;
}

/** The flags about a file's format, the entry of a zip archive, and the format of a file if nothing is to be detected. */
export interface FormatFlags {
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly entry?: string | undefined;
  readonly known?: FileFormat | undefined;
  /** By default, the first record is the header. */
  readonly search?: HeaderSearch | undefined;
}

/** The maximum size of a header, in bytes. */
const maxHeaderBytes = 1024 * 1024;
export const maxRecordBytes = 16 * 1024 * 1024;

const formats = "import a CSV file, an Excel workbook (.xlsx), or a JSON file";

/** The first bytes of files that are often imported by mistake: what they are, and what to do. */
const signatures: readonly (readonly [start: string, what: string, hint: string])[] = [
  ["PK\u0003\u0004", "is a zip archive in another archive", "extract it first"],
  ["\u001f\u008b", "is a gzip archive in another archive", "extract it first"],
  ["BZh", "is compressed with bzip2", decompressHint("bzip2 -d")],
  ["\u00fd7zXZ\0", "is compressed with xz", decompressHint("xz -d")],
  ["\u0028\u00b5\u002f\u00fd", "is compressed with zstd", decompressHint("zstd -d")],
  ["\u0004\u0022\u004d\u0018", "is compressed with lz4", decompressHint("lz4 -d")],
  ["7z\u00bc\u00af\u0027\u001c", "is a 7-Zip archive", "extract it first"],
  ["Rar!", "is a RAR archive", "extract it first"],
  ["%PDF", "is a PDF document", formats],
  ["SQLite format 3\0", "is a SQLite database", formats],
  ["\u0089PNG", "is a PNG image", formats],
];

/** The start of old Office documents, and of encrypted new ones; and what only encrypted ones contain. */
const compoundStart = "\u00d0\u00cf\u0011\u00e0";
const encryptedPart = Buffer.from("EncryptedPackage", "utf16le");

function decompressHint(program: string): string {
  return `decompress it first, for example with ${program}; gzip and zip files can be imported directly`;
}

/**
 * Detects the format of a file from its beginning.
 * @throws FileFormatError if it is empty, binary, or in an unknown encoding
 */
export function readFileHead(path: string, flags: FormatFlags): FileHead {
  const source = openSource(path, flags.entry);
  const read = readStart(readBytes(source), maxHeaderBytes + 1);
  const start = { bytes: read.subarray(0, maxHeaderBytes), isWhole: read.length <= maxHeaderBytes };
  if (start.bytes.length === 0) throw new FileFormatError("the file is empty", noNames);
  const { known, search } = flags;
  if (known) {
    const text = iconv.decode(start.bytes, known.encoding, { stripBOM: true });
    // The records of JSON have names.
    const isNamed = known.origin === "json" || known.origin === "ndjson";
    const place = isNamed || !search ? { above: known.rowsAbove ?? 0 } : { search };
    const textStart = { text, isCrOnly: known.isCrOnly, isWhole: start.isWhole };
    return {
      source,
      ...describeHead(findHeader(textStart, known.delimiter, { ...place, isKnown: true }), known, 0),
    };
  }
  const { encoding, assumption } = findEncoding(source, start, flags.encoding);
  const decoded = iconv.decode(start.bytes, encoding, { stripBOM: true });
  rejectBinary(start.bytes, decoded);
  const sep = readSepLine(decoded);
  const text = decoded.slice(sep?.length ?? 0);
  const isCrOnly = hasCrOnly(decoded);
  const located = findHeader({ text, isCrOnly, isWhole: start.isWhole }, flags.delimiter ?? sep?.delimiter, { search });
  const found = describeHead(located, { encoding, delimiter: located.delimiter, isCrOnly }, sep ? 1 : 0);
  // In valid UTF-8, the character was lost before.
  const isValid = encoding === "utf-8" && isUtf8Start(start);
  if (!isValid && found.header.some((name) => name.includes("\uFFFD"))) {
    const hint = "specify the encoding, for example --encoding windows-1252";
    throw new FileFormatError(`the text is not ${encoding.replace(/^utf-8$/, "UTF-8")}`, hint, { line: 1 });
  }
  return { source, ...found, ...(assumption === undefined ? {} : { assumption }) };
}

interface FileStart {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

function findEncoding(source: ByteSource, start: FileStart, requested: string | undefined): EncodingGuess {
  if (requested !== undefined) {
    const isKnown: boolean = iconv.encodingExists(requested);
    if (!isKnown) {
      const hint = "use the name of an encoding, such as utf-8, utf-16le, windows-1252, or iso-8859-1";
      throw new FileFormatError(`unknown encoding "${requested}"`, hint);
    }
    return { encoding: /^utf-?8$/i.test(requested) ? "utf-8" : requested };
  }
  const { bytes } = start;
  const guess = guessEncoding(bytes);
  if (guess.encoding !== "utf-8" || isUtf8Start(start)) return guess;
  const latin = bytes.toString("latin1");
  rejectBinary(bytes, latin);
  return guessFallback(source, hasCrOnly(latin));
}

/**
 * Chooses the encoding of a text that turned out not to be UTF-8.
 * @throws FileFormatError if it is mostly UTF-8, so that any other encoding would corrupt it
 */
export function guessFallback(source: ByteSource, isCrOnly: boolean): EncodingGuess {
  const fault = findUtfFault(source, isCrOnly);
  if (!fault) return { encoding: "utf-8" };
  if (!fault.isUtf8Meant) {
    const encoding = fault.isMacRoman ? "macintosh" : fallbackEncoding;
    return { encoding, assumption: `not UTF-8 (line ${fault.line})` };
  }
  throw new FileFormatError(
    "this line is not UTF-8, although other lines are",
    `fix the line, or specify the encoding, for example --encoding ${fallbackEncoding}`,
    { line: fault.line },
  );
}

/** Whether the bytes are UTF-8; if they are only a start, a letter may be incomplete. */
function isUtf8Start({ bytes, isWhole }: FileStart): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

function rejectBinary(bytes: Buffer, text: string): void {
  const start = bytes.toString("latin1", 0, 16);
  const [, what, hint] = signatures.find(([signature]) => start.startsWith(signature)) ?? [];
  if (what !== undefined) throw new FileFormatError(`the file ${what}`, hint);
  if (start.startsWith(compoundStart)) {
    throw bytes.includes(encryptedPart)
      ? new FileFormatError("the Excel workbook is encrypted with a password", "save a copy without a password")
      : new FileFormatError("the file is an old Excel workbook (.xls)", "open it, and save it as .xlsx or CSV");
  }
  if (bytes.toString("latin1", 257, 262) === "ustar") {
    throw new FileFormatError("the file is a tar archive", "extract it first");
  }
  const firstLine = text.split(/[\r\n]/, 1)[0] ?? "";
  // oxlint-disable-next-line no-control-regex -- control characters distinguish binary files from text
  const controls = firstLine.match(/[\u0000-\u0008\u000e-\u001f]/g)?.length ?? 0;
  if (controls > 0) {
    throw new FileFormatError(
      "the file is not text: its first line contains control characters",
      `${formats}; if its encoding is unusual, specify it with --encoding`,
    );
  }
}

/** @param sepRows the number of lines above the text that declare the delimiter */
function describeHead(
  { names, isRecord, above, foundRow }: LocatedHeader,
  format: FileFormat,
  sepRows: number,
): Pick<FileHead, "format" | "header" | "foundRow"> {
  const rowsAbove = above + sepRows;
  return {
    header: names,
    format: { ...format, ...(rowsAbove > 0 && { rowsAbove }), ...(isRecord && { hasNoHeader: true }) },
    ...(foundRow !== undefined && { foundRow }),
  };
}
