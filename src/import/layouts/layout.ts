import type { RowView } from "../item.ts";

/** A row's cell by the name of its column; empty where the file has no such column. Blanks around it are taken off. */
export type CellView = (column: string) => string;

/** How days and months are ordered where nothing in a date tells: `14/08/2018` or `08/14/2018`. */
export type DateOrder = "day-first" | "month-first";

/** What a value may be read by beside itself. */
export interface ValueContext {
  /** The row's other fields. */
  readonly field: RowView;
  /** Where the layout asks for it, as the file's rows tell or the layout's name says. */
  readonly dateOrder: DateOrder | undefined;
}

/** Where a field of ours is found in a row, and how its value is written. */
export interface FieldSource {
  /** Columns, the best first: the first that is not empty in a row counts. Those of one list are joined by a blank. */
  readonly from: readonly (string | readonly string[])[];
  /** Only the best column that the file has counts: ids of two kinds must not be mixed. */
  readonly isOneColumn?: boolean;
  /** Values that say nothing, as an empty cell does. */
  readonly saysNothing?: (value: string) => boolean;
  /** The value as we write it; what it cannot read it gives back as it is, for the checks to refuse. */
  readonly as?: (value: string, context: ValueContext) => string;
}

/** To which family a row belongs: a product and its variants, or one product in several languages. */
export interface Family {
  readonly key: string;
  /** Other names that rows use for this family. */
  readonly aliases?: readonly string[];
}

/** Rows that belong together: they stand and fall together. */
export interface RowGroups {
  /**
   * How rows are known to be of one group. `columns`: by the first of these that the file has, wherever they stand.
   * `family`: by what a row says of itself and of its relatives, wherever they stand. `start`: a row that starts a
   * group, and those below it up to the next such row.
   */
  readonly by:
    | { readonly columns: readonly string[] }
    | { readonly family: (cell: CellView) => Family | undefined }
    | { readonly start: (cell: CellView) => boolean };
  /**
   * What a group makes. `lines`: each row is a line of one record, and the record's own fields stand on any of its
   * rows. `one`: all rows tell of one record. `each`: each row is a record of its own, and what they share stands on
   * any of them.
   */
  readonly makes: "lines" | "one" | "each";
  /** Of `each`: the fields that the records share. */
  readonly shared?: readonly string[];
  /** Of `one`: the row that its fields are taken from first, and what is wrong with a group that must have it. */
  readonly lead?: {
    readonly is: (cell: CellView) => boolean;
    readonly missing?: { readonly column: string; readonly reason: string };
  };
  /** Of `one`: fields that must come from one and the same row, the first that has any of them. */
  readonly together?: readonly string[];
  /** Of `lines` and `each`: rows that are nothing of their own. */
  readonly isNoLine?: (cell: CellView) => boolean;
}

/** Several lines in one row: columns that each line has, beside those of its row. */
export interface RowLines {
  /** The column that lines are in, for messages. */
  readonly column: (header: readonly string[]) => string | undefined;
  readonly read: (cell: CellView, header: readonly string[]) => readonly Readonly<Record<string, string>>[];
}

/** How a shop's software lays out a file: data, and functions of a row's cells. */
export interface Layout {
  readonly name: string;
  /** As it is named in a sentence: "a Shopify orders export". */
  readonly title: string;
  /** A header that has all the columns of one of these is taken for this layout; none where it is only asked for. */
  readonly signatures: readonly (readonly string[])[];
  readonly fields: Readonly<Record<string, FieldSource>>;
  /** Values that the layout itself says. */
  readonly constants?: Readonly<Record<string, string>>;
  readonly groups?: RowGroups;
  readonly lines?: RowLines;
  /** The order of day and month, or `found`: by the file's first rows. */
  readonly dateOrder?: DateOrder | "found";
  /** Cells may hold HTML. */
  readonly hasHtml?: boolean;
  /** What was decided and a person should know, for a sentence on the screen. */
  readonly says?: readonly string[];
  /** Why the file may lack the columns that are missing, and what to do. */
  readonly missingHint?: string;
}
