import { type FoundHeader, type HeaderSearch, maxSearched } from "../csv/locate-header.ts";
import type { FirstRecord } from "../csv/text-format.ts";
import type { ImportKind } from "../kinds.ts";
import { columnsOf } from "../layouts/choose-layout.ts";
import type { ImportOptions } from "../options.ts";
import { isValue } from "./missing-columns.ts";
import { normalizeName, rejectColumns } from "./names.ts";
import { squashName } from "./proposal.ts";

/** What the header of a kind's files is recognized by. */
export type HeaderKind = Pick<ImportKind, "fields" | "layouts" | "nameColumns" | "synonyms">;

/**
 * How the header of a file of this kind is found: in the row that `--header-row` names, or below a title.
 * Assumed: a reject file has its header in the first row, so it can be imported with the flags of its import.
 */
export function createHeaderSearch(kind: HeaderKind, options: Pick<ImportOptions, "headerRow" | "map">): HeaderSearch {
  const { headerRow: row, map } = options;
  const names = new ColumnNames(kind, Object.values(map));
  const find = <R extends FirstRecord>(records: readonly R[]): FoundHeader<R> | undefined => {
    const filled = records.filter(({ cells }) => countFilled(cells) > 0);
    const [first] = filled;
    if (!first) return undefined;
    if (rejectColumns.every((name) => first.cells.includes(name))) return { record: first };
    if (row !== undefined) {
      const record = filled.find((one) => one.row === row);
      return record && { record };
    }
    const record = findBelowTitle(filled.slice(0, maxSearched), names);
    const isTable = record !== undefined && record !== first && countFilled(record.cells) > 1;
    const unnamed = isTable
      ? undefined
      : kind.nameColumns?.(
          filled.map(({ cells }) => cells),
          Object.values(map),
        );
    if (unnamed) return { record: first, names: unnamed };
    return record && { record };
  };
  return { row, find };
}

/**
 * The record with most names of columns, if those above it look like a title.
 * @returns undefined if no record has any
 */
function findBelowTitle<R extends FirstRecord>(records: readonly R[], names: ColumnNames): R | undefined {
  let [best] = records;
  if (!best) return undefined;
  const below = records.filter(
    ({ cells }, at) => at > 0 && records.slice(0, at).every((above) => isTitle(above.cells, cells)),
  );
  if (below.length === 0 && names.hasAny(best.cells)) return best;
  let most = names.count(best.cells);
  for (const record of below) {
    const count = names.count(record.cells);
    if (count > most) [best, most] = [record, count];
  }
  return most > 0 ? best : undefined;
}

/** Describes a header below a title, and how to choose another row. */
export function describeFoundRow(row: number): string {
  return `row ${row} is read as the header; to use another row, pass --header-row`;
}

/** Whether a row may be a title above a header: it has few cells, and above a narrow header, no values. */
function isTitle(cells: readonly string[], header: readonly string[]): boolean {
  const width = countFilled(header);
  const isNarrow = width <= 2;
  return countFilled(cells) <= Math.max(1, width / 2) && !(isNarrow && cells.some((cell) => isValue(cell.trim())));
}

function countFilled(cells: readonly string[]): number {
  return cells.filter((cell) => cell.trim() !== "").length;
}

/** The names by which columns are recognized: those of the kind, of its layouts, and of `--map`, and their synonyms. */
class ColumnNames {
  readonly #names: ReadonlySet<string>;
  readonly #kind: HeaderKind;
  #squashed: ReadonlySet<string> | undefined;

  constructor(kind: HeaderKind, mapped: readonly string[]) {
    const own = kind.fields.flatMap(({ name, aliases = [], isMappedOnly }) => (isMappedOnly ? [] : [name, ...aliases]));
    const ofLayouts = kind.layouts.flatMap(columnsOf);
    this.#names = new Set([...own, ...ofLayouts, ...mapped].map(normalizeName));
    this.#kind = kind;
  }

  hasAny(cells: readonly string[]): boolean {
    return cells.some((cell) => this.#names.has(normalizeName(cell)));
  }

  /** The number of cells that are names of columns. Of several cells, a single one may be a name by coincidence. */
  count(cells: readonly string[]): number {
    const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== "");
    const others = filled.filter((cell) => !this.#names.has(normalizeName(cell)));
    const known = filled.length - others.length;
    if (filled.length === 1) return known;
    const { fields, synonyms = {} } = this.#kind;
    this.#squashed ??= new Set(fields.flatMap(({ name }) => synonyms[name]?.plain ?? []).map(squashName));
    const count = known + others.filter((cell) => this.#squashed?.has(squashName(cell))).length;
    return count > 1 ? count : 0;
  }
}
