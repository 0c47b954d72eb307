import type { Chunk } from "./chunks.ts";
import type { ImportBehavior } from "../kind.ts";

/** The records that a call writes, each with the value of the last row that writes it. */
export type CallWrites = ReadonlyMap<string, unknown>;

export function writesOf({ items }: Chunk, { writes }: Pick<ImportBehavior, "writes">): CallWrites {
  const found = new Map<string, unknown>();
  if (!writes) return found;
  for (const item of items) for (const [id, value] of writes(item)) found.set(id, value);
  return found;
}

/** Whether two calls leave different values in the same record, so that their order matters. */
export function isConflicting(a: CallWrites, b: CallWrites): boolean {
  for (const [id, value] of b) if (a.has(id) && !isSame(a.get(id), value)) return true;
  return false;
}

/** Most records are written once, so their values are compared only when they are not. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * The writes of calls that were sent after calls that follow them in the files. Those later calls must be repeated so
 * that the last row wins. Stores the last value of each record, not the rows.
 */
export class OverlappingWrites {
  readonly #behavior: ImportBehavior;
  /** With values as JSON, because a cell retains the entire block of the file from which it was cut. */
  readonly #last = new Map<string, { readonly json: string; readonly sentAt: number }>();

  constructor(behavior: ImportBehavior) {
    this.#behavior = behavior;
  }

  /**
   * Adds what a call writes; calls are added in the order of the files.
   * @param sentAt when it was sent, as any increasing number
   */
  note(chunk: Chunk, sentAt: number): void {
    for (const [id, value] of writesOf(chunk, this.#behavior)) {
      const before = this.#last.get(id)?.sentAt ?? sentAt;
      this.#last.set(id, { json: JSON.stringify(value), sentAt: Math.max(before, sentAt) });
    }
  }

  /** Whether a call's writes were overwritten by a call that precedes it in the files. */
  overlap(chunk: Chunk, sentAt: number): boolean {
    if (this.#last.size === 0) return false;
    for (const [id, value] of writesOf(chunk, this.#behavior)) {
      const last = this.#last.get(id);
      if (last && last.sentAt > sentAt && last.json !== JSON.stringify(value)) return true;
    }
    return false;
  }
}
