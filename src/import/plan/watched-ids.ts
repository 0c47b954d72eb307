import type { InputFile } from "../source/input-files.ts";
import type { ImportBehavior } from "../kind.ts";
import { isItem, type Item, type RowView, type SourceRow } from "../item.ts";
import type { PlanBehavior } from "./plan-behavior.ts";
import type { PlanTally } from "./plan-tally.ts";

/** Rows that name a record which an earlier row named. */
export interface Repeated {
  rows: number;
  /** `file:line` of the first. */
  first: string | null;
}

/** Adds the IDs of an import's rows to a plan's tally as they are read. */
export class IdWatch {
  readonly repeated: Repeated = { rows: 0, first: null };
  readonly #plan: PlanBehavior | undefined;
  readonly #tally: PlanTally;
  #files: readonly InputFile[] = [];

  constructor(plan: PlanBehavior | undefined, tally: PlanTally) {
    this.#plan = plan;
    this.#tally = tally;
  }

  setFiles(files: readonly InputFile[]): void {
    this.#files = files;
  }

  /** The same behavior, observed. */
  watch(behavior: ImportBehavior): ImportBehavior {
    const plan = this.#plan;
    if (!plan) return behavior;
    return {
      ...behavior,
      read: (row, source, ...more) => {
        const read = behavior.read(row, source, ...more);
        if (isItem(read)) this.#add(plan, read, row, source);
        return read;
      },
    };
  }

  #add(plan: PlanBehavior, item: Item, row: RowView, source: SourceRow): void {
    const file = this.#files[source.file];
    const place = `${file?.given}:${source.line}`;
    for (const { type, field, writtenIn, name } of plan.ids) {
      const id = field === undefined ? item.key : row(field);
      const at = file?.columns.columnOf.get(writtenIn);
      const spelling = (at === undefined ? undefined : source.cells[at]) || id;
      this.#tally.addFromFile(type, {
        id,
        spelling,
        name: name === undefined ? undefined : row(name),
        place,
      });
    }
    if (!this.#tally.addKey(plan.keyOf(item, row))) return;
    this.repeated.rows++;
    this.repeated.first ??= place;
  }
}
