import { FileFormatError } from "../import-error.ts";
import { delimiters, type FirstRecord, guessDelimiter, readFirstRecords, type TextStart } from "./text-format.ts";

/** How the header is found among the first records of a file. */
export interface HeaderSearch {
  /** The row that a flag names. */
  readonly row: number | undefined;
  /** Returns undefined if no record is known to be the header. */
  readonly find: <R extends FirstRecord>(records: readonly R[]) => FoundHeader<R> | undefined;
}

export interface FoundHeader<R extends FirstRecord = FirstRecord> {
  readonly record: R;
  /** The names of the columns, if the record is a row of a file without a header. */
  readonly names?: readonly string[];
}

/** Where the header is. */
interface HeaderPlace {
  readonly search?: HeaderSearch | undefined;
  /** The number of records above, if nothing is searched. */
  readonly above?: number;
  /** Whether the format is known, so that the quotes are right. */
  readonly isKnown?: boolean;
}

const maxColumns = 1_000;
/** The number of records among which a header below a title is searched. */
export const maxSearched = 20;

/** The number of records that show which of them is the header, and whether the file has one. */
const maxCompared = 100;

type PlacedRecord = ReturnType<typeof readFirstRecords>[number];

/** The header of a text, and the delimiter with which it is one. */
export interface LocatedHeader {
  readonly delimiter: string;
  readonly names: readonly string[];
  readonly isRecord: boolean;
  /** The number of records above. */
  readonly above: number;
  readonly foundRow: number | undefined;
}

/**
 * Finds the header of a text, which may be below a title.
 * @param given the delimiter, if it is known
 * @throws FileFormatError if the text has no header
 */
export function findHeader(
  start: TextStart,
  given: string | undefined,
  { search, above: known = 0, isKnown = false }: HeaderPlace,
): LocatedHeader {
  if (start.text.trim() === "") throw new FileFormatError("the file is empty", noNames);
  const { delimiter, records, found } = splitStart(start, given, search);
  const record = found?.record ?? records[known];
  const above = record ? records.indexOf(record) : 0;
  if (record && !isKnown) rejectQuotedRows(textFrom(start, record), records.slice(above));
  const names = found?.names ?? readNames(record, above);
  const isTitled = search?.row === undefined && records.slice(0, above).some(isTitle);
  return {
    delimiter,
    names,
    isRecord: found?.names !== undefined,
    above,
    foundRow: isTitled ? record?.row : undefined,
  };
}

function isTitle({ cells }: FirstRecord): boolean {
  return cells.length === 0 || cells.some((cell) => cell.trim() !== "");
}

/** Splits the beginning of a text with the delimiter of its header, since a title above it may have another one or none. */
function splitStart(
  start: TextStart,
  given: string | undefined,
  search: HeaderSearch | undefined,
): { delimiter: string; records: readonly PlacedRecord[]; found: FoundHeader<PlacedRecord> | undefined } {
  const first = given ?? guessDelimiter(start);
  const most = Math.max(maxCompared, search?.row ?? 0);
  const records = readFirstRecords(start, first, most);
  const found = search?.find(records);
  const isSure = given !== undefined || found?.record === records[0];
  if (!search || (found && (isSure || guessDelimiter(textFrom(start, found.record)) === first))) {
    return { delimiter: first, records, found };
  }
  for (const delimiter of given === undefined ? delimiters.filter((other) => other !== first) : []) {
    const others = readFirstRecords(start, delimiter, most);
    const other = search.find(others);
    if (!other || guessDelimiter(textFrom(start, other.record)) !== delimiter) continue;
    return { delimiter, records: others, found: other };
  }
  if (search.row === undefined) return { delimiter: first, records, found: undefined };
  if (!found) throw missingRow(search.row, records, start);
  return { delimiter: first, records, found };
}

function textFrom(start: TextStart, record: PlacedRecord): TextStart {
  return record.start === 0 ? start : { ...start, text: Buffer.from(start.text).toString("utf8", record.start) };
}

export const noNames = "the first row must name the columns";
const otherRow = "to use another row as the header, pass --header-row";
const rowOfFlag = "--header-row takes the number of the row with the column names";

function missingRow(row: number, records: readonly PlacedRecord[], { isWhole }: TextStart): FileFormatError {
  const last = records.at(-1)?.row ?? 0;
  if (row <= last) return new FileFormatError(`row ${row} contains no column names`, rowOfFlag);
  if (!isWhole) {
    return new FileFormatError(`row ${row} cannot be the header, because it is not in the first 1 MiB`, rowOfFlag);
  }
  const count = last === 1 ? "1 row" : `${last} rows`;
  return new FileFormatError(`row ${row} cannot be the header, because the file has only ${count}`, rowOfFlag);
}

/** Assumed: no list of single values has a delimiter in its quoted header and in all of its first rows. */
function rejectQuotedRows({ text }: TextStart, records: readonly PlacedRecord[]): void {
  if (!text.startsWith('"')) return;
  const rows = records
    .map(({ cells }) => cells)
    .filter(([first, ...more]) => first !== undefined && (first !== "" || more.length > 0));
  const isQuotedBy = (separator: string) =>
    rows.every(([row = "", ...more]) => more.length === 0 && row.includes(separator));
  if (rows.length < 2 || !delimiters.some(isQuotedBy)) return;
  throw new FileFormatError(
    "each row is quoted as a whole, so it has only one cell",
    "export the file again with quotes around single cells only, or remove the outer quotes",
    { line: 1 },
  );
}

/** @param at the number of records above */
function readNames(record: PlacedRecord | undefined, at: number): string[] {
  const place = at === 0 || record === undefined ? "the first row" : `row ${record.row}`;
  const names = (record?.cells ?? []).map((name) => name.trim());
  if (names.length === 0) {
    throw new FileFormatError(`cannot read ${place}: it has an unclosed quote, or it is too long`);
  }
  if (names.every((name) => name === ""))
    throw new FileFormatError(`${place} contains no column names`, `${noNames}; ${otherRow}`);
  if (names.length > maxColumns) {
    throw new FileFormatError(
      `${place} has ${names.length} columns; the limit is ${maxColumns}`,
      "if the delimiter is wrong, specify it with --delimiter",
    );
  }
  return names;
}
