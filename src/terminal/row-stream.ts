import type { Cell } from "./view.ts";

export type Row = Readonly<Record<string, unknown>>;

/** The maximum number of rows of a stream, and whether there were more. */
export class RowLimit {
  readonly rows: number;
  isExceeded = false;

  constructor(rows: number) {
    this.rows = rows;
  }

  /** Ends a stream after these rows. If there are more, the stream must have at least one of them. */
  async *cut(pages: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
    let left = this.rows;
    for await (const page of pages) {
      if (left > 0) yield page.slice(0, left);
      this.isExceeded = page.length > left;
      if (this.isExceeded) return;
      left -= page.length;
    }
  }
}

/** The result of a command that may be larger than memory. Its rows are printed as they arrive, in any format. */
export class RowStream {
  readonly pages: AsyncIterable<readonly Row[]>;
  /** The columns that a table shows by default. */
  readonly columns: readonly string[];
  /** All columns that a table can show. */
  readonly allColumns: readonly string[];
  /** The table headings of columns whose name is not suitable. */
  readonly headings: Readonly<Record<string, string>>;
  /** The limit that the pages were cut to, if any. */
  readonly limit: RowLimit | undefined;
  /** The message if there are no rows (default: one for all lists). */
  readonly ifEmpty: string | undefined;

  constructor(
    pages: AsyncIterable<readonly Row[]>,
    {
      columns,
      allColumns = columns,
      headings = {},
      limit,
      ifEmpty,
    }: {
      readonly columns: readonly string[];
      readonly allColumns?: readonly string[];
      readonly headings?: Readonly<Record<string, string>>;
      readonly limit?: RowLimit | undefined;
      readonly ifEmpty?: string | undefined;
    },
  ) {
    this.pages = pages;
    this.columns = columns;
    this.allColumns = allColumns;
    this.headings = headings;
    this.limit = limit;
    this.ifEmpty = ifEmpty;
  }

  /** The same stream with other columns in a table. */
  showing(columns: readonly string[]): RowStream {
    const { allColumns, headings, limit, ifEmpty } = this;
    return new RowStream(this.pages, { columns, allColumns, headings, limit, ifEmpty });
  }

  /** The same stream with other rows. */
  map(change: (row: Row) => Row): RowStream {
    return new RowStream(mapPages(this.pages, change), this);
  }
}

async function* mapPages(
  pages: AsyncIterable<readonly Row[]>,
  change: (row: Row) => Row,
): AsyncGenerator<readonly Row[]> {
  for await (const page of pages) yield page.map(change);
}

/** Returns the value of a column. A name with dots selects a nested field: `user.display_name`. */
export function cellOf(row: Row, column: string): Cell {
  const own = Object.hasOwn(row, column) ? row[column] : undefined;
  const value = own === undefined && column.includes(".") ? findNested(row, column.split(".")) : own;
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return JSON.stringify(value);
}

function findNested(row: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Row)[name] : undefined,
    row,
  );
}
