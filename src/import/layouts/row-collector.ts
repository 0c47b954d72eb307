import type { RowError, SourceRow } from "../item.ts";
import type { RowGroups } from "./layout.ts";
import type { RowFields } from "./row-fields.ts";

/** A row of a group; with a problem where it could not be read as a record of the file at all. */
export interface CollectedRow {
  readonly source: SourceRow;
  readonly problem?: RowError | undefined;
}

/** The most that one group may have: rows, and characters. */
export const maxGroup = { rows: 5_000, size: 16 * 1024 * 1024 } as const;

/** Rows that belong together, or so many of them that they are too many: then the rest of them is to follow. */
export interface CollectedGroup {
  readonly rows: readonly CollectedRow[];
  readonly isTooLarge: boolean;
}

/** Collects the rows that belong together, which come one after the other. */
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

  /** @param family the row's family, where rows are known by that */
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

  /** What the rows of one group have in common; nothing where a row belongs to no other. */
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

/** A key without the blanks, and in a row that could not be parsed without the quotes, around it. */
function readKey(cell: string): string | undefined {
  const key = cell
    .trim()
    .replace(/^"([^"]*)"?$/, "$1")
    .trim();
  return key === "" ? undefined : key;
}
