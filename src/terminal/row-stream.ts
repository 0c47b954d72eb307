import type { Cell } from "./view.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Rows that are printed as they come, in whatever format: a command's data where there may be more than memory holds. */
export class RowStream {
  readonly pages: AsyncIterable<readonly Row[]>;
  /** Columns that a table shows by itself. */
  readonly columns: readonly string[];
  /** Columns that it could show. */
  readonly allColumns: readonly string[];

  constructor(
    pages: AsyncIterable<readonly Row[]>,
    {
      columns,
      allColumns = columns,
    }: { readonly columns: readonly string[]; readonly allColumns?: readonly string[] },
  ) {
    this.pages = pages;
    this.columns = columns;
    this.allColumns = allColumns;
  }
}

/** What a column of a row says; with points in its name, what is inside of a field: `user.display_name`. */
export function cellOf(row: Row, column: string): Cell {
  const own = Object.hasOwn(row, column) ? row[column] : undefined;
  const found = own === undefined && column.includes(".") ? findInside(row, column.split(".")) : own;
  if (found === undefined || found === null) return null;
  if (typeof found === "string" || typeof found === "number" || typeof found === "boolean") return found;
  return JSON.stringify(found);
}

function findInside(row: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (held, name) =>
      typeof held === "object" && held !== null && Object.hasOwn(held, name)
        ? (held as Row)[name]
        : undefined,
    row,
  );
}
