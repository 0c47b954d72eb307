import type { RowError } from "../item.ts";

/** What a code of the reject file means and how to fix the row; scripts and `docs/reference/rejects.md` rely on the codes. */
export interface RejectCode {
  readonly means: string;
  /** Appended to `_reason`; absent if there is nothing to do or the reason says it. */
  readonly hint?: string;
}

/** The codes that rows of any kind may have; a kind declares further ones. */
export const rejectCodes: Readonly<Record<string, RejectCode>> = {
  missing: { means: "a required field is empty", hint: "fill in the cell" },
  too_long: { means: "the value is longer than the service accepts", hint: "shorten it" },
  too_short: { means: "the value is shorter than the service accepts" },
  bad_type: { means: "the value has the wrong type for the field, such as text for a number" },
  bad_characters: {
    means:
      "the value contains characters that are not allowed: U+0000, an unpaired surrogate, or an invisible character of an email address",
    hint: "remove them",
  },
  bad_id: {
    means: "an ID with characters other than letters, digits, `_`, and `-`, which the service would drop",
    hint: "use only letters, digits, _, and -",
  },
  bad_email: { means: "not an email address", hint: "write it as name@shop.example" },
  bad_url: { means: "not a URL", hint: "write it in full, starting with https://" },
  bad_date: { means: "not a date, or a date with an ambiguous order of day and month", hint: "write it as 2026-01-31" },
  future_date: { means: "a date more than a day in the future", hint: "correct the date" },
  bad_price: { means: "not a price", hint: "write digits with a decimal point: 1234.50" },
  bad_currency: { means: "not a currency code", hint: "write three letters, such as EUR" },
  bad_boolean: { means: "neither true nor false", hint: "write true or false" },
  spreadsheet_error: {
    means: "the error of a spreadsheet formula, such as `#REF!` or `#N/A`, instead of a value",
    hint: "export the file again, or enter the value",
  },
  spreadsheet_formula: {
    means: 'a value that a spreadsheet program wrapped in a formula, such as `="1002"`',
    hint: "remove the equals sign and the quotes",
  },
  scientific_notation: {
    means: "an ID that a spreadsheet program has rounded to a number such as `1.23E+12`",
    hint: "copy the ID from the original; in the spreadsheet, format the column as text first",
  },
  html_too_complex: {
    means: "HTML with more than 20,000 tags or 256 nested elements",
    hint: "replace the HTML by its text",
  },
  empty_cell: {
    means: "an empty cell, which `--empty error` rejects",
    hint: "fill it in, remove the column, or pass --empty keep",
  },
  no_parent: { means: "rows of one record without the row that holds their shared fields" },
  duplicate: {
    means: "given twice in the files, or stored on the service before the run began",
    hint: "delete the row",
  },
  no_lines: { means: "an order without any purchased line item", hint: "remove the order" },
  order_too_large: {
    means: "an order with too many rows, products, units, or bytes",
    hint: "split it into orders with different IDs",
  },
  ragged_row: { means: "more or fewer cells than the header", hint: "give the row as many cells as the header" },
  bad_quote: { means: "a quoted cell that is not closed correctly", hint: "double any quote inside a quoted cell" },
  nul_byte: { means: "a NUL byte in the row", hint: "remove it" },
  record_too_long: { means: "a row longer than 16 MiB", hint: "check for an unclosed quote" },
  refused: { means: "rejected by the service for a reason of its own, given in `_reason`" },
  too_large: { means: "a call with only this row is larger than the service accepts", hint: "shorten its text" },
  call_refused: {
    means: "the service rejected the entire call; if it accepted others, this row's item was alone in the call",
  },
  call_failed: {
    means: "the service failed several times on a call with only this row's item, while it accepted others",
    hint: "import it again later; if it fails again, contact the service's operator",
  },
};

/** Makes a reason more precise if the cell's value allows it. */
export function sharpenReason(code: string, reason: string, value: string): string {
  return code === "bad_email" && value !== "" && !value.includes("@") ? "has no @" : reason;
}

/** The error for the valid rows of an item with an invalid one. */
export function describeIncomplete(one: string, line: number | undefined, unit = "line"): RowError {
  const article = /^[aeiou]/.test(one) ? "an" : "a";
  const reason = `belongs to ${article} ${one} that was not imported because ${unit} ${line} is invalid`;
  return { field: "", code: `${one}_incomplete`, reason };
}
