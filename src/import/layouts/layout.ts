import type { RowView } from "../item.ts";

/** A row's cell by column name, without surrounding whitespace; empty if the file has no such column. */
export type CellView = (column: string) => string;

/** The order of day, month, and year in ambiguous dates: `14/08/2018`, `08/14/2018`, or `18/08/14`. */
export type DateOrder = "day-first" | "month-first" | "year-first";

export interface ValueContext {
  readonly field: RowView;
  /** As a flag or the layout's name states it, or as the file's rows show it. */
  readonly dateOrder: DateOrder | undefined;
}

/** The source of a field in a row, and the conversion of its value. */
export interface FieldSource {
  /** Columns by precedence: the first non-empty one counts. Those in a nested list are joined by a space. */
  readonly from: readonly (string | readonly string[])[];
  /** Uses only the first column that the file has, so that IDs of two types are not mixed. */
  readonly isOneColumn?: boolean;
  /** Values that mean the same as an empty cell. */
  readonly countsAsEmpty?: (value: string) => boolean;
  /** Converts the value; returns what it cannot read unchanged, or `tooComplex`, for the checks to reject. */
  readonly as?: (value: string, context: ValueContext) => string;
}

/** The family of a row: a product and its variants, or one product in several languages. */
export interface Family {
  readonly key: string;
  /** Other names that rows use for this family. */
  readonly aliases?: readonly string[];
}

/** Rows that belong together: if one is invalid, all are rejected. */
export interface RowGroups {
  /**
   * How the rows of a group are recognized. `columns`: by the first of these that the file has, at any position.
   * `family`: by what a row says about itself and its relatives, at any position. `start`: a row that starts a group,
   * and those below it up to the next such row.
   */
  readonly by:
    | { readonly columns: readonly string[] }
    | { readonly family: (cell: CellView) => Family | undefined }
    | { readonly start: (cell: CellView) => boolean };
  /**
   * What a group becomes. `lines`: each row is a line of one record, and any row may hold the record's own fields.
   * `one`: all rows describe one record. `each`: each row is a record, and any row may hold the shared fields.
   */
  readonly makes: "lines" | "one" | "each";
  /** For `each`: the fields that the records share. */
  readonly shared?: readonly string[];
  /** For `one`: the row whose fields take precedence, and the error of a group without it. */
  readonly lead?: {
    readonly is: (cell: CellView) => boolean;
    readonly missing?: { readonly column: string; readonly reason: string };
  };
  /**
   * For `one`: fields that only rows below the lead give, such as the reply to a comment: the first that `is` one. They
   * give no other fields. `otherwise` reports the rows that are not used.
   */
  readonly replies?: {
    readonly fields: readonly string[];
    readonly is: (cell: CellView, lead: CellView) => boolean;
    readonly otherwise: string;
  };
  /** For `one`: fields that must come from the same row, the first that has any of them. */
  readonly together?: readonly string[];
  /** For `lines` and `each`: rows that are not records or lines themselves. */
  readonly isNoLine?: (cell: CellView) => boolean;
}

/** Several lines in one row: the columns of each line, in addition to those of its row. */
export interface RowLines {
  /** The column that holds the lines, for messages. */
  readonly column: (header: readonly string[]) => string | undefined;
  readonly read: (cell: CellView, header: readonly string[]) => readonly Readonly<Record<string, string>>[];
}

/** How a shop's software formats a file: data, and functions of a row's cells. */
export interface Layout {
  readonly name: string;
  /** Its name in a sentence: "a Shopify orders export". */
  readonly title: string;
  /** A header with all columns of one of these matches the layout; if empty, the layout must be requested. */
  readonly signatures: readonly (readonly string[])[];
  /** It applies even if the file also has all required native columns. */
  readonly precedesNative?: boolean;
  readonly fields: Readonly<Record<string, FieldSource>>;
  /** The columns with product IDs of each type, if they are not those of the fields: `sku`, `name`. */
  readonly productIds?: Readonly<Record<string, FieldSource["from"]>>;
  /** Values that the layout implies. */
  readonly constants?: Readonly<Record<string, string>>;
  /** Where a shop of this software finds a product: a pattern that follows its address (default: a search). */
  readonly storePath?: string;
  readonly groups?: RowGroups;
  readonly lines?: RowLines;
  /** Further columns that the functions of `groups` read. */
  readonly reads?: readonly string[];
  /** The order of day and month, or `found`: as the file's rows show it. */
  readonly dateOrder?: DateOrder | "found";
  /** Cells may hold HTML. */
  readonly hasHtml?: boolean;
  /** Decisions that the person should know about. */
  readonly notes?: readonly string[];
  /** Required fields that the shop does not export: why a file without a column for them is refused, and what to do. */
  readonly lacks?: Readonly<Record<string, { readonly reason: string; readonly hint: string }>>;
  /** Why required columns may be missing, and what to do. */
  readonly missingHint?: string;
}
