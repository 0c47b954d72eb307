import type { Chunk } from "./chunks.ts";
import type { ImportBehavior } from "../kind.ts";

/**
 * What was written by calls that were sent after others which stand behind them in the files: those others have to be
 * sent once more, so that the last row counts. Of each record the last value is kept, and not the rows.
 */
export class OverlappingWrites {
  readonly #behavior: ImportBehavior;
  readonly #last = new Map<string, { readonly value: string; readonly sentAt: number }>();

  constructor(behavior: ImportBehavior) {
    this.#behavior = behavior;
  }

  /**
   * Takes what a call writes; calls are given in the order of the files.
   * @param sentAt when it was sent, as any number that grows
   */
  note(chunk: Chunk, sentAt: number): void {
    for (const [id, value] of this.#writesOf(chunk)) {
      const before = this.#last.get(id)?.sentAt ?? sentAt;
      this.#last.set(id, { value, sentAt: Math.max(before, sentAt) });
    }
  }

  /** Whether what a call wrote when it was sent was overwritten since by something that stands before it. */
  haveOvertaken(chunk: Chunk, sentAt: number): boolean {
    if (this.#last.size === 0) return false;
    return [...this.#writesOf(chunk)].some(([id, value]) => {
      const last = this.#last.get(id);
      return last !== undefined && last.sentAt > sentAt && last.value !== value;
    });
  }

  /** Each record that a call writes, with its last value. */
  #writesOf({ items }: Chunk): ReadonlyMap<string, string> {
    return new Map(items.flatMap((item) => [...(this.#behavior.writes?.(item) ?? [])]));
  }
}
