/** What a code of the reject file means, and what a person can do; scripts and `docs/reference/rejects.md` rely on the codes. */
export interface RejectCode {
  readonly means: string;
  /** Stands at the end of `_reason`; nothing where there is nothing to be done, or the reason says it. */
  readonly hint?: string;
}

/** Every code that `_code` may hold. */
export const rejectCodes: Readonly<Record<string, RejectCode>> = {
  missing: { means: "a field that has to be there is empty", hint: "fill the cell in" },
  too_long: { means: "the value is longer than the service takes", hint: "shorten it" },
  too_short: { means: "the value is shorter than the service takes" },
  bad_type: { means: "the value is of another kind than the field: text for a number, say" },
  bad_characters: {
    means: "the value holds characters that cannot be stored (U+0000, half a surrogate pair)",
    hint: "take them out",
  },
  bad_id: {
    means: "an id with characters other than letters, digits, `_` and `-`, which the service would drop",
    hint: "write it with letters, digits, _ and - alone",
  },
  bad_email: { means: "not an e-mail address", hint: "write it as name@shop.example" },
  bad_url: { means: "not a web address", hint: "write it whole, from https:// on" },
  bad_date: {
    means: "not a date, or one whose day and month cannot be told apart",
    hint: "write it as 2026-01-31",
  },
  bad_price: { means: "not a price", hint: "write digits and a point before the decimals: 1234.50" },
  bad_score: { means: "not a number of stars", hint: "write a whole number from 1 to 5" },
  bad_currency: { means: "not a currency code", hint: "write its three letters, as in EUR" },
  bad_boolean: { means: "neither true nor false", hint: "write true or false" },
  bad_platform: {
    means: "not one of the service's platforms",
    hint: "write one that is known, as in shopify or general",
  },
  bad_email_type: { means: "not an email type" },
  bad_quantity: { means: "not a number of units", hint: "write a whole number, from 1" },
  empty_cell: {
    means: "an empty cell, where `--empty error` asks for none",
    hint: "fill it in, take the column out, or say --empty keep",
  },
  no_parent: { means: "rows of one record, and the row that holds what they share is not among them" },
  duplicate: {
    means: "given twice in the files, or on the service before the run began",
    hint: "delete the row",
  },
  order_conflict: {
    means: "rows of one order contradict each other",
    hint: "give all rows of the order the same value",
  },
  order_incomplete: {
    means: "another row of the same order is at fault, and the order stands or falls as a whole",
    hint: "correct that line, and import all rows of the order together",
  },
  product_incomplete: {
    means: "another row of the same product is at fault, and the product stands or falls as a whole",
    hint: "correct that line, and import all rows of the product together",
  },
  no_lines: { means: "an order without a line item that was bought", hint: "leave the order out" },
  order_too_large: {
    means: "an order of too many rows, units or bytes",
    hint: "split it into orders of their own ids",
  },
  ragged_row: {
    means: "more or fewer cells than the header",
    hint: "give the row as many cells as the header has",
  },
  bad_quote: {
    means: "a quote that is opened and not closed as CSV asks",
    hint: "write a quote inside a quoted cell twice",
  },
  nul_byte: { means: "a NUL byte in the row", hint: "take it out" },
  record_too_long: { means: "a row longer than 16 MiB", hint: "see whether a quote is not closed" },
  refused: { means: "refused by the service, for a reason of its own that `_reason` tells" },
  unsubscribed_by_user: {
    means: "the person unsubscribed by themselves, and cannot be brought back by the store",
    hint: "leave the address out",
  },
  too_large: {
    means: "a call with this row alone is larger than the service takes",
    hint: "shorten its texts",
  },
  call_refused: {
    means: "the service refused the whole call; where it took others, with this row's item alone in it",
  },
  call_failed: {
    means: "the service failed with this row's item alone, several times, while it took others",
    hint: "import it again later; if it fails again, ask those who run the service",
  },
};

/** Says more exactly what is wrong with a cell, where its value tells. */
export function sharpenReason(code: string, reason: string, value: string): string {
  return code === "bad_email" && value !== "" && !value.includes("@") ? "has no @" : reason;
}
