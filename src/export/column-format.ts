import { stringify } from "csv-stringify/sync";
import type { RowValues } from "./sorted-rows.ts";

export type ExportFormat = "csv" | "ndjson" | "json";

/** How rows become text: what stands before all of them, what each piece of them is, and what stands after. */
export interface ExportForm {
  readonly start: string;
  /** @param isFirst whether no row came before */
  readonly rows: (rows: readonly RowValues[], isFirst: boolean) => string;
  readonly end: string;
}

export interface CsvOptions {
  /** Cells that a spreadsheet would take for a formula get a `'` before them. */
  readonly isSafeForExcel: boolean;
}

/** A spreadsheet takes a file without it for text of another encoding. */
const byteOrderMark = "\u{feff}";

/**
 * What a reader might otherwise change: blanks at an end, line ends, and the delimiters that a reader may guess.
 * A cell with a quote or a comma is quoted in any case.
 */
const needsQuotes = /^\s|\s$|[\r\n;\t|]/;

/** Signs of full width count as well: a spreadsheet of East Asia takes them for the others. */
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/;

/** RFC 4180 with a line feed at the end of each row. */
export function createCsvForm(columns: readonly string[], { isSafeForExcel }: CsvOptions): ExportForm {
  const toCell = (value: RowValues[number]): string => {
    const text = value === null ? "" : String(value);
    return isSafeForExcel && typeof value === "string" && formulaStart.test(text) ? `'${text}` : text;
  };
  const write = (rows: readonly (readonly string[])[]) => stringify([...rows], { quoted_match: needsQuotes });
  return {
    start: (isSafeForExcel ? byteOrderMark : "") + write([[...columns]]),
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
  return {
    start: "[",
    rows: (rows, isFirst) => (isFirst ? "\n" : ",\n") + rows.map(toText).join(",\n"),
    end: "\n]\n",
  };
}
