import type { SourceRow } from "../item.ts";
import { RejectTable, type RejectedInput, type RejectPlace, type FormatFlags } from "./reject-table.ts";

/** A file of the run, and the group of files with which its rejects may share a table. */
export interface GroupedInput extends RejectedInput {
  readonly group: string;
}

/**
 * The rows that were not accepted, in a format that the same command can import. Files that must be read differently
 * have separate tables, next to the first.
 */
export class RejectFile {
  readonly #tables: readonly RejectTable[];
  readonly #tableOf: readonly number[];

  constructor(path: string, inputs: readonly GroupedInput[], flags: FormatFlags) {
    const groups = [...new Set(inputs.map(({ group }) => group))];
    this.#tableOf = inputs.map(({ group }) => groups.indexOf(group));
    this.#tables = groups.map((group, at) => {
      const own = [...inputs.entries()].filter(([, input]) => input.group === group);
      return new RejectTable(numberPath(path, at), new Map(own), flags);
    });
  }

  /** The tables with rejects from this attempt or an earlier one. */
  get written(): readonly string[] {
    return this.#tables.filter((table) => table.isThere).map((table) => table.path);
  }

  add(row: SourceRow, place: RejectPlace): void {
    this.#tables[this.#tableOf[row.file] ?? 0]?.add(row, place);
  }

  /** Ends writing; the tables take effect unless `isKept` is false. */
  close(isKept: boolean): void {
    for (const table of this.#tables) table.close(isKept);
  }
}

/** The name of the nth table: `rejects.csv`, `rejects-2.csv`. */
function numberPath(path: string, at: number): string {
  return at === 0 ? path : path.replace(/(\.[^./]*)?$/, `-${at + 1}$1`);
}
