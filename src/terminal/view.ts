/** The forms in which data is printed. */
export type Format = "table" | "json" | "ndjson" | "csv";

/** A value that a person or a spreadsheet can be shown. */
export type Cell = string | number | boolean | null;

/** How a value is coloured, where there is colour; it says nothing that its words do not. */
export type Tone = "red" | "yellow" | "green";

/** What a person sees of a command's data; scripts get the data itself. */
export interface View {
  /**
   * `table`: one line a row under a header; `fields`: one line a column; `line`: the first column alone; `silent`:
   * nothing; `text`: the view's own lines, which are folded and never cut.
   */
  readonly layout: "table" | "fields" | "line" | "silent" | "text";
  readonly columns: readonly string[];
  /** Those of CSV, where a screen has no room for all. */
  readonly fileColumns?: readonly string[];
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  readonly lines?: readonly string[];
  /** Of the lines, where they have one. */
  readonly lineTones?: readonly (Tone | undefined)[];
  /** By column. */
  readonly tones?: Readonly<Record<string, ((cell: Cell) => Tone | undefined) | undefined>>;
}

type Rows = View["rows"];

export function table(rows: Rows, columns: readonly string[]): View {
  return { layout: "table", columns, rows };
}

/** Lines for a person; a spreadsheet gets the rows. */
export function text(lines: readonly string[], rows: Rows, columns: readonly string[]): View {
  return { layout: "text", columns, rows, lines };
}

/** One record, a line a field. */
export function fields(record: Readonly<Record<string, Cell>>): View {
  return { layout: "fields", columns: Object.keys(record), rows: [record] };
}

/** One value alone, for `$(…)` in a shell. */
export function line(name: string, value: Cell): View {
  return { layout: "line", columns: [name], rows: [{ [name]: value }] };
}

/** Nothing on the screen, since it was said in words; CSV has the record all the same. */
export function silent(record: Readonly<Record<string, Cell>> = {}): View {
  return { ...fields(record), layout: "silent" };
}
