/** A row of a file with its position, kept until its outcome is known. */
export interface SourceRow {
  readonly file: number;
  /** The line on which it starts, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** What is wrong with a row: the field, a stable code, and a message. */
export interface RowError {
  readonly field: string;
  readonly code: string;
  readonly reason: string;
  /** How to fix it; by default, as the code suggests. */
  readonly hint?: string;
  /** For an item of several rows: the position of the invalid row; if absent, all of them are invalid. */
  readonly row?: number;
}

/** An error that the service reported for an item: none of the item's rows was accepted. */
export interface ItemError extends RowError {
  /** Position of the item in the call. */
  readonly item: number;
}

/** What a call carries: one or more rows. */
export interface Item {
  /** Identifies the item, for example the order ID. */
  readonly key: string;
  /** Items with different batch keys never share a call. */
  readonly batchKey: string;
  readonly rows: SourceRow[];
  /** Approximate size in the request body, in characters. */
  size: number;
  payload: unknown;
  /** Its rows are only valid together: none of them can be sent again alone. */
  isIndivisible?: boolean;
  /** For an item whose rows overwrite each other: the row that wrote each field last. */
  writtenIn?: Map<string, SourceRow>;
  /** The keys under which the service may hold it, if it may hold several equal records. */
  doubleKeys?: readonly string[];
  /** For an item of several records: the ID of each, the row that names it, and the record as this row describes it. */
  parts?: { readonly id: string; readonly row: SourceRow; readonly record: unknown }[];
  /** The fields without a value in its rows for which the import made one. */
  filled?: readonly string[];
  /** What it has in common with its earlier versions. */
  versionKey?: string;
  /** The ID of the stored record that it is a later version of. */
  replaces?: number;
}

/** A row's cells by field, without surrounding whitespace. Empty if the file has no such column. */
export type RowView = (field: string) => string;

/** Reports a value that was not sent although its row was. */
export type ReportDropped = (field: string, reason: string) => void;

/** Whether a row was read as an item, and not as its errors. */
export function isItem(read: Item | readonly RowError[]): read is Item {
  return !Array.isArray(read);
}
