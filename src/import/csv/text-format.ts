import { RecordScanner, recordFlag } from "./record-scanner.ts";
import { splitRecords } from "./split-record.ts";

/** One of the first records of a text. */
export interface FirstRecord {
  /** The number of the row as a spreadsheet program shows it, from 1: blank lines count, line breaks in cells do not. */
  readonly row: number;
  /** Empty if the record has a broken quote. */
  readonly cells: readonly string[];
}

/** Possible delimiters, most likely first. */
export const delimiters = [",", ";", "\t", "|"] as const;

/** Number of records used to compare delimiters. */
const recordsLookedAt = 50;

/** A first line that declares the delimiter, as Excel writes it. */
const sepLine = /^"?sep=([\t !#-/:-@[-`{-~])"?(?:\r\n|\r|\n)/i;

/** Reads the delimiter that a first line declares, and where the header begins. */
export function readSepLine(text: string): { readonly delimiter: string; readonly length: number } | undefined {
  const found = sepLine.exec(text);
  return found?.[1] === undefined ? undefined : { delimiter: found[1], length: found[0].length };
}

/** The minimum number of lone CRs, starting at the end of the header, for CR line breaks. */
const minLoneCrs = 3;

/**
 * Whether lines end in CR only, as the header does; quoted cells may then contain LF.
 * Assumed: a CR before another, or before a CRLF, is a stray one.
 */
export function hasCrOnly(text: string): boolean {
  const unquoted = text.replaceAll(/"[^"]*"/g, "");
  const [first] = /\r+\n?|\n/.exec(unquoted) ?? [];
  if (first === undefined || first.endsWith("\n")) return false;
  return !unquoted.includes("\n") || (text.match(/\r(?!\n)/g)?.length ?? 0) >= minLoneCrs;
}

export interface TextStart {
  readonly text: string;
  readonly isCrOnly: boolean;
  /** Whether this is the entire text; otherwise, its last record is incomplete. */
  readonly isWhole: boolean;
}

/**
 * Detects the delimiter: if the header contains several candidates, the one that splits most rows into as many cells as
 * the header; then the one with the most columns.
 */
export function guessDelimiter(start: TextStart): string {
  const unquoted = unquotedHeader(start.text);
  const candidates = delimiters.filter((delimiter) => unquoted.includes(delimiter));
  if (candidates.length < 2) return candidates[0] ?? ",";
  const judged = candidates.map((delimiter) => judgeDelimiter(start, delimiter));
  judged.sort((a, b) => b.share - a.share || b.columns - a.columns);
  return judged[0]?.delimiter ?? ",";
}

/** The unquoted part of the first non-blank line; quotes are recognized without knowing the delimiter. */
function unquotedHeader(text: string): string {
  let header = "";
  for (const [piece] of text.matchAll(/"[^"]*"|[\r\n]+|[^"\r\n]+|"/g)) {
    if (/^[\r\n]/.test(piece)) {
      if (header !== "") break;
    } else header += piece.startsWith('"') ? '"' : piece;
  }
  return header;
}

interface JudgedDelimiter {
  readonly delimiter: string;
  /** The share of rows with as many cells as the header. */
  readonly share: number;
  readonly columns: number;
}

function judgeDelimiter(start: TextStart, delimiter: string): JudgedDelimiter {
  const widths = readFirstRecords(start, delimiter, recordsLookedAt).map(({ cells }) => cells.length);
  const [columns = 0, ...rows] = widths.filter((width) => width > 0);
  if (columns < 2) return { delimiter, share: 0, columns };
  const fitting = rows.filter((width) => width === columns).length;
  return { delimiter, share: rows.length === 0 ? 1 : fitting / rows.length, columns };
}

/** The first complete records, and where they start in the text as UTF-8. */
export function readFirstRecords(
  { text, isCrOnly, isWhole }: TextStart,
  delimiter: string,
  most: number,
): (FirstRecord & { readonly start: number })[] {
  const bytes = Buffer.from(text);
  const scanner = new RecordScanner({
    delimiter: delimiter.charCodeAt(0),
    isCrOnly,
    keyColumn: -1,
    firstLine: 1,
    maxRecordBytes: bytes.length,
  });
  const { starts, ends, flags } = scanner.scan(bytes, isWhole).records;
  const first = [...starts.keys()].slice(0, most);
  const isBroken = (at: number) => ((flags[at] ?? 0) & recordFlag.badQuote) !== 0;
  const valid = first.filter((at) => !isBroken(at));
  const texts = valid.map((at) => bytes.toString("utf8", starts[at], ends[at]));
  const split = splitRecords(texts, delimiter).values();
  let row = 1;
  return first.map((at) => {
    const start = starts[at] ?? 0;
    row += countBytes(bytes, isCrOnly ? 13 : 10, ends[at - 1] ?? 0, start);
    return { row, start, cells: isBroken(at) ? [] : (split.next().value ?? []) };
  });
}

function countBytes(bytes: Buffer, byte: number, from: number, to: number): number {
  return bytes.subarray(from, to).filter((one) => one === byte).length;
}
