import type { Chunk } from "./chunks.ts";
import type { ImportBehavior } from "../kind.ts";

/**
 * The writes of calls that were sent after calls that follow them in the files. Those later calls must be repeated so
 * that the last row wins. Stores the last value of each record, not the rows.
 */
export class OverlappingWrites {
  readonly #behavior: ImportBehavior;
  readonly #last = new Map<string, { readonly value: string; readonly sentAt: number }>();

  constructor(behavior: ImportBehavior) {
    this.#behavior = behavior;
  }

  /**
   * Adds what a call writes; calls are added in the order of the files.
   * @param sentAt when it was sent, as any increasing number
   */
  note(chunk: Chunk, sentAt: number): void {
    for (const [id, value] of this.#writesOf(chunk)) {
      const before = this.#last.get(id)?.sentAt ?? sentAt;
      this.#last.set(id, { value, sentAt: Math.max(before, sentAt) });
    }
  }

  /** Whether a call's writes were overwritten by a call that precedes it in the files. */
  overlap(chunk: Chunk, sentAt: number): boolean {
    if (this.#last.size === 0) return false;
    return [...this.#writesOf(chunk)].some(([id, value]) => {
      const last = this.#last.get(id);
      return last !== undefined && last.sentAt > sentAt && last.value !== value;
    });
  }

  /** The records that a call writes, with their last values. */
  #writesOf({ items }: Chunk): ReadonlyMap<string, string> {
    return new Map(items.flatMap((item) => [...(this.#behavior.writes?.(item) ?? [])]));
  }
}
