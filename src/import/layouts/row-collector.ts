import type { RowError, SourceRow } from "../item.ts";
import type { RowGroups } from "./layout.ts";
import type { RowFields } from "./row-fields.ts";

/** A row of a group, with an error if it could not be parsed. */
export interface CollectedRow {
  readonly source: SourceRow;
  readonly problem?: RowError | undefined;
}

/** The limits of one group, in rows and characters. */
export const maxGroup = { rows: 5_000, size: 16 * 1024 * 1024 } as const;

/** Rows that belong together; if they exceed the limits, the rest follows in further groups. */
export interface CollectedGroup {
  readonly rows: readonly CollectedRow[];
  readonly isTooLarge: boolean;
}

/** Collects adjacent rows that belong together. */
export class RowCollector {
  readonly #groups: RowGroups;
  readonly #fields: RowFields;
  readonly #keyColumn: number;
  #key: string | undefined;
  #rows: CollectedRow[] = [];
  #size = 0;
  #started = 0;
  #isTooLarge = false;

  constructor(groups: RowGroups, fields: RowFields) {
    this.#groups = groups;
    this.#fields = fields;
    this.#keyColumn = fields.groupColumn ?? -1;
  }

  /** @param family the row's family, if the layout groups by family */
  *add(row: CollectedRow, family: string | undefined): Generator<CollectedGroup> {
    const key = this.#keyOf(row, family);
    if (key === undefined || key !== this.#key) yield* this.end();
    this.#key = key;
    this.#rows.push(row);
    for (const cell of row.source.cells) this.#size += cell.length;
    if (this.#rows.length <= maxGroup.rows && this.#size <= maxGroup.size && !this.#isTooLarge) return;
    this.#isTooLarge = true;
    yield this.#take();
  }

  *end(): Generator<CollectedGroup> {
    if (this.#rows.length > 0) yield this.#take();
    this.#key = undefined;
    this.#isTooLarge = false;
  }

  #take(): CollectedGroup {
    const group = { rows: this.#rows, isTooLarge: this.#isTooLarge };
    this.#rows = [];
    this.#size = 0;
    return group;
  }

  /** The key that the rows of one group share; undefined for a row that stands alone. */
  #keyOf({ source: { cells } }: CollectedRow, family: string | undefined): string | undefined {
    const { by } = this.#groups;
    if ("family" in by) return family;
    if ("start" in by) {
      if (by.start(this.#fields.cellView({ cells }))) this.#started++;
      return String(this.#started);
    }
    return readKey(cells[this.#keyColumn] ?? "");
  }
}

/** A key without surrounding whitespace, and without surrounding quotes in a row that could not be parsed. */
function readKey(cell: string): string | undefined {
  const key = cell
    .trim()
    .replace(/^"([^"]*)"?$/, "$1")
    .trim();
  return key === "" ? undefined : key;
}
