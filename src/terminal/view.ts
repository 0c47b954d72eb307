/** The output formats of `--format`. */
export type Format = "table" | "json" | "ndjson" | "csv";

/** The value of a cell in a table or CSV file. */
export type Cell = string | number | boolean | null;

/** The color of a value. It only repeats what the text already states. */
export type Tone = "red" | "yellow" | "green";

/** How the data of a command is shown in a table or CSV file. With JSON, the data itself is printed. */
export interface View {
  /**
   * `table`: a header and one line per row; `fields`: one line per column; `line`: only the first column; `silent`:
   * nothing; `text`: `lines`, wrapped and never truncated. `fields` may be followed by `lines`.
   */
  readonly layout: "table" | "fields" | "line" | "silent" | "text";
  readonly columns: readonly string[];
  /** The columns of CSV output, if a terminal has no room for all of them. */
  readonly fileColumns?: readonly string[];
  /** Columns that are never truncated. */
  readonly wholeColumns?: readonly string[];
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  /** The table headings of columns whose name is not suitable. */
  readonly headings?: Readonly<Record<string, string>>;
  readonly lines?: readonly string[];
  /** The colors of `lines`, by index. */
  readonly lineTones?: readonly (Tone | undefined)[];
  /** Functions that return the color of a cell, which may depend on its row, by column. */
  readonly tones?: Readonly<Record<string, ((cell: Cell, row: Rows[number]) => Tone | undefined) | undefined>>;
}

type Rows = View["rows"];

export function table(rows: Rows, columns: readonly string[]): View {
  return { layout: "table", columns, rows };
}

/** Shows lines of text; CSV output has the rows. */
export function text(lines: readonly string[], rows: Rows, columns: readonly string[]): View {
  return { layout: "text", columns, rows, lines };
}

/** Shows one record, with one line per field. */
export function fields(record: Readonly<Record<string, Cell>>): View {
  return { layout: "fields", columns: Object.keys(record), rows: [record] };
}

/** Shows a single value, for use in `$(…)`. */
export function line(name: string, value: Cell): View {
  return { layout: "line", columns: [name], rows: [{ [name]: value }] };
}

/** Shows nothing, because messages on standard error have reported the result. CSV output has the record. */
export function silent(record: Readonly<Record<string, Cell>> = {}): View {
  return { ...fields(record), layout: "silent" };
}
