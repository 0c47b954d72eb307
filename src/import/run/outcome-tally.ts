import type { ImportEvent } from "../events.ts";
import type { ItemName } from "../kind.ts";
import { type ChunkOutcomes, outcomeCodes } from "../outcome.ts";
import type { ItemCounts } from "../summary.ts";

type OutcomeCounts = Pick<ItemCounts, "created" | "changed" | "unchanged" | "unchanged_on_repeat">;

/** Counts what the service did with the accepted items of a run. */
export class OutcomeTally {
  readonly #counts = new Map<string, number>();
  readonly #fields = new Map<string, number>();

  addItem(code: string = outcomeCodes.unknown): void {
    this.#counts.set(code, this.#countOf(code) + 1);
  }

  addFields(fields: ChunkOutcomes["fields"] = {}): void {
    for (const [field, count] of Object.entries(fields)) {
      this.#fields.set(field, (this.#fields.get(field) ?? 0) + count);
    }
  }

  /** All null if the outcome of a single item is unknown, since the sum must be the number of accepted items. */
  get counts(): OutcomeCounts {
    if (this.#countOf(outcomeCodes.unknown) > 0) return { created: null, changed: null, unchanged: null };
    const repeated = this.#countOf(outcomeCodes.unchangedOnRepeat);
    return {
      created: this.#countOf(outcomeCodes.created),
      changed: this.#countOf(outcomeCodes.changed),
      unchanged: this.#countOf(outcomeCodes.unchanged) + repeated,
      ...(repeated > 0 && { unchanged_on_repeat: repeated }),
    };
  }

  *notices({ one, many }: ItemName): Generator<ImportEvent> {
    const changed = this.#countOf(outcomeCodes.changed);
    if (changed > 0 && this.#fields.size > 0) {
      const fields = [...this.#fields]
        .toSorted(([, a], [, b]) => b - a)
        .map(([field, count]) => `${field} (${format(count)})`);
      const message = `${format(changed)} ${changed === 1 ? one : many} changed: ${fields.join(", ")}`;
      yield { type: "notice", message };
    }
    const repeated = this.#countOf(outcomeCodes.unchangedOnRepeat);
    if (repeated > 0) {
      const items = `${format(repeated)} ${repeated === 1 ? one : many} ${repeated === 1 ? "counts" : "count"}`;
      const message = `${items} as unchanged, but this import may have stored ${repeated === 1 ? "it" : "them"}: a request was repeated because it got no response`;
      yield { type: "notice", message };
    }
  }

  #countOf(code: string): number {
    return this.#counts.get(code) ?? 0;
  }
}

function format(count: number): string {
  return count.toLocaleString("en-US");
}
