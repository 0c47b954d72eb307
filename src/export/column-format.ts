import { stringify } from "csv-stringify/sync";
import type { RowValues } from "./sorted-rows.ts";

export type ExportFormat = "csv" | "ndjson" | "json";

/** How rows are formatted: the text before all rows, of each piece of rows, and after all rows. */
export interface ExportForm {
  readonly start: string;
  /** @param isFirst whether no row precedes them */
  readonly rows: (rows: readonly RowValues[], isFirst: boolean) => string;
  readonly end: string;
}

export interface CsvOptions {
  /** Changes the texts, to protect spreadsheets and terminals. */
  readonly toText: (text: string) => string;
  readonly hasByteOrderMark: boolean;
}

/** Without it, Excel assumes a different encoding. */
const byteOrderMark = "\u{feff}";

/**
 * Values that a reader might change: surrounding whitespace, line breaks, and delimiters that it may detect. Cells with
 * a quote or comma are always quoted.
 */
const needsQuotes = /^\s|\s$|[\r\n;\t|]/;

/** RFC 4180 with LF line breaks. */
export function createCsvForm(columns: readonly string[], { toText, hasByteOrderMark }: CsvOptions): ExportForm {
  const toCell = (value: RowValues[number]): string => {
    const text = value === null ? "" : String(value);
    return typeof value === "string" ? toText(text) : text;
  };
  const write = (rows: readonly (readonly string[])[]) => stringify([...rows], { quoted_match: needsQuotes });
  return {
    start: (hasByteOrderMark ? byteOrderMark : "") + write([[...columns]]),
    rows: (rows) => write(rows.map((values) => columns.map((_, at) => toCell(values[at] ?? null)))),
    end: "",
  };
}

export function createJsonForm(fields: readonly string[], format: "json" | "ndjson"): ExportForm {
  const toText = (values: RowValues) =>
    JSON.stringify(Object.fromEntries(fields.map((field, at) => [field, values[at] ?? null])));
  if (format === "ndjson") {
    return { start: "", rows: (rows) => rows.map((values) => `${toText(values)}\n`).join(""), end: "" };
  }
  return { start: "[", rows: (rows, isFirst) => (isFirst ? "\n" : ",\n") + rows.map(toText).join(",\n"), end: "\n]\n" };
}
