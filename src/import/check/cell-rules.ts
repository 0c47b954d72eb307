import type { Books } from "../run/tally.ts";
import type { Importing, Item, NoteLeftOut, RowProblem, RowView, SourceRow } from "../kind.ts";
import { fixId } from "./valid-id.ts";
import type { ImportOptions } from "../types.ts";

/** An id that was put right. */
export interface FixedId {
  readonly original: string;
  readonly fixed: string;
}

const none: readonly string[] = [];

/**
 * What a person asked of single cells, whatever their kind: that ids be put right, and what an empty cell means.
 * What was done is told to the books once the row is an item: of a rejected row nothing was sent.
 */
export class CellRules {
  readonly #importing: Importing;
  readonly #books: Books;
  readonly #empty: ImportOptions["empty"];
  /** The fields that may be left empty and that the file has a column for. */
  readonly #optional: readonly string[];
  readonly #fixable: ReadonlySet<string>;
  #row: RowView = () => "";
  readonly #fixed = new Map<string, FixedId>();
  readonly #leftOut: (readonly [field: string, reason: string])[] = [];
  readonly #noteLeftOut: NoteLeftOut = (field, reason) => this.#leftOut.push([field, reason]);

  constructor(
    importing: Importing,
    books: Books,
    hasColumn: (field: string) => boolean,
    { empty, fixIds }: Pick<ImportOptions, "empty" | "fixIds">,
  ) {
    this.#importing = importing;
    this.#books = books;
    this.#empty = empty;
    const optional = importing.fields.filter(({ name, required }) => !required && hasColumn(name));
    this.#optional = empty === undefined || empty === "keep" ? [] : optional.map(({ name }) => name);
    this.#fixable = new Set(fixIds ? importing.legalIds : []);
  }

  /**
   * Reads a row by its kind, with the rules applied.
   * @param later takes what is to be told once it is known whether the row's group is an item
   */
  read(row: RowView, source: SourceRow, later?: (() => void)[]): Item | readonly RowProblem[] {
    this.#row = row;
    this.#fixed.clear();
    const view = this.#fixable.size > 0 ? this.#fixingView : row;
    // Most rows have nothing to be told: what they take is made once.
    const empty = this.#optional.length === 0 ? none : this.#optional.filter((field) => view(field) === "");
    const erasable = this.#importing.erasing?.fields ?? [];
    const erased = this.#empty === "clear" ? empty.filter((field) => erasable.includes(field)) : none;
    this.#leftOut.length = 0;
    const read = this.#importing.read(view, source, this.#noteLeftOut, erased);
    if (this.#empty === "error" && empty.length > 0)
      return [...(isItem(read) ? [] : read), ...empty.map(emptyCell)];
    if (!isItem(read)) return read;
    if (this.#leftOut.length === 0 && empty.length === 0 && this.#fixed.size === 0) return read;
    const leftOut = [...this.#leftOut];
    const fixed = [...this.#fixed.values()];
    const tell = () => {
      for (const [field, reason] of leftOut) this.#books.leaveOut(source, field, reason);
      for (const field of empty) this.#tellEmpty(source, field, erased.includes(field));
      for (const pair of fixed) this.#books.fixId(source, pair);
    };
    if (later) later.push(tell);
    else tell();
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

  #tellEmpty(source: SourceRow, field: string, isErased: boolean): void {
    if (isErased) this.#books.erase(source, field);
    else
      this.#books.keep(
        source,
        field,
        this.#importing.erasing?.otherwise ?? "nothing is stored that it could erase",
      );
  }
}

/** Whether a row was read as an item, and not as its problems. */
export function isItem(read: Item | readonly RowProblem[]): read is Item {
  return !Array.isArray(read);
}

function emptyCell(field: string): RowProblem {
  return { field, code: "empty_cell", reason: "is empty, which --empty error refuses" };
}
