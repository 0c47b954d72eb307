import type { RunTally } from "../run/tally.ts";
import type { ImportBehavior } from "../kind.ts";
import { isItem, type Item, type ReportDropped, type RowError, type RowView, type SourceRow } from "../item.ts";
import { type FixedId, fixId } from "./valid-id.ts";
import type { ImportOptions } from "../options.ts";

const none: readonly string[] = [];

/**
 * Applies the options for single cells, which are the same for all kinds: rewriting invalid IDs, and the meaning of
 * empty cells. What was done is added to the tally once the row is an item, since nothing of a rejected row is sent.
 */
export class CellRules {
  readonly #behavior: ImportBehavior;
  readonly #tally: RunTally;
  readonly #empty: ImportOptions["empty"];
  /** The optional fields for which the file has a column. */
  readonly #optional: readonly string[];
  readonly #fixable: ReadonlySet<string>;
  #row: RowView = () => "";
  readonly #fixed = new Map<string, FixedId>();
  readonly #dropped: (readonly [field: string, reason: string])[] = [];
  readonly #reportDropped: ReportDropped = (field, reason) => this.#dropped.push([field, reason]);

  constructor(
    behavior: ImportBehavior,
    tally: RunTally,
    hasColumn: (field: string) => boolean,
    { empty, fixIds }: Pick<ImportOptions, "empty" | "fixIds">,
  ) {
    this.#behavior = behavior;
    this.#tally = tally;
    this.#empty = empty;
    const optional = behavior.fields.filter(({ name, required }) => !required && hasColumn(name));
    this.#optional = empty === undefined || empty === "keep" ? [] : optional.map(({ name }) => name);
    this.#fixable = new Set(fixIds ? behavior.fixableFields : []);
  }

  /**
   * Reads a row as its kind does, with the rules applied.
   * @param later receives what to report once it is known whether the row's group is an item
   */
  read(row: RowView, source: SourceRow, later?: (() => void)[]): Item | readonly RowError[] {
    this.#row = row;
    this.#fixed.clear();
    const view = this.#fixable.size > 0 ? this.#fixingView : row;
    // Most rows have nothing to report; this avoids allocating for them.
    const empty = this.#optional.length === 0 ? none : this.#optional.filter((field) => view(field) === "");
    const erasable = this.#behavior.erasing?.fields ?? [];
    const erased = this.#empty === "clear" ? empty.filter((field) => erasable.includes(field)) : none;
    this.#dropped.length = 0;
    const read = this.#behavior.read(view, source, this.#reportDropped, erased);
    if (this.#empty === "error" && empty.length > 0) return [...(isItem(read) ? [] : read), ...empty.map(emptyCell)];
    if (!isItem(read)) return read;
    if (this.#dropped.length === 0 && empty.length === 0 && this.#fixed.size === 0) return read;
    const dropped = [...this.#dropped];
    const fixed = [...this.#fixed.values()];
    const report = () => {
      for (const [field, reason] of dropped) this.#tally.dropValue(source, field, reason);
      for (const field of empty) this.#countEmpty(source, field, erased.includes(field));
      for (const pair of fixed) this.#tally.fixId(source, pair);
    };
    if (later) later.push(report);
    else report();
    return read;
  }

  readonly #fixingView: RowView = (field) => {
    const value = this.#row(field);
    if (!this.#fixable.has(field)) return value;
    const known = this.#fixed.get(field);
    if (known?.original === value) return known.fixed;
    const fixed = fixId(field, value);
    if (fixed !== undefined) this.#fixed.set(field, { original: value, fixed });
    return fixed ?? value;
  };

  #countEmpty(source: SourceRow, field: string, isErased: boolean): void {
    if (isErased) this.#tally.erase(source, field);
    else this.#tally.keep(source, field, this.#behavior.erasing?.otherwise ?? "there is no stored value to erase");
  }
}

function emptyCell(field: string): RowError {
  return { field, code: "empty_cell", reason: "is empty, which --empty error rejects" };
}
