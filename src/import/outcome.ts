import type { Item, ItemError } from "./item.ts";

/** What the service did with an item that it accepted. */
export interface ItemOutcome {
  readonly outcome: "created" | "changed" | "unchanged";
  /** The stored fields whose values changed. */
  readonly fields?: readonly string[] | undefined;
}

/** The result of a call that was carried out. */
export interface SendResult {
  readonly errors: readonly ItemError[];
  /** One for each item sent, in order; undefined where the service does not report it. */
  readonly outcomes?: readonly (ItemOutcome | undefined)[] | undefined;
  /** Values of accepted items that the service did not store. */
  readonly dropped?: readonly ItemError[] | undefined;
}

/**
 * The outcomes of a chunk's items, as the journal stores them: `codes` has one letter per item, and `fields` counts the
 * changed items by field.
 */
export interface ChunkOutcomes {
  readonly codes: string;
  readonly fields?: Readonly<Record<string, number>> | undefined;
}

/** The letters of a journal. */
export const outcomeCodes = {
  created: "c",
  changed: "m",
  unchanged: "u",
  /** Reported as unchanged, but an earlier request of the same call got no response and may have stored the item. */
  unchangedOnRepeat: "r",
  /** Not accepted, or not reported. */
  unknown: "-",
} as const;

/** An item's outcome, and whether an earlier request with the item may have been carried out without a response. */
export interface RecordedOutcome extends ItemOutcome {
  readonly isRepeated: boolean;
}

export function collectOutcomes(items: readonly Item[], outcomes: ReadonlyMap<Item, RecordedOutcome>): ChunkOutcomes {
  const fields: Record<string, number> = {};
  const codes = items.map((item) => {
    const found = outcomes.get(item);
    if (!found) return outcomeCodes.unknown;
    for (const field of found.fields ?? []) fields[field] = (fields[field] ?? 0) + 1;
    const isUncertain = found.outcome === "unchanged" && found.isRepeated;
    return outcomeCodes[isUncertain ? "unchangedOnRepeat" : found.outcome];
  });
  return { codes: codes.join(""), ...(Object.keys(fields).length > 0 && { fields }) };
}

/**
 * Combines the outcomes of a chunk that was sent again so that its values win over those of a later one. What the first
 * call did still counts.
 */
export function mergeOutcomes(first: ChunkOutcomes | undefined, again: ChunkOutcomes): ChunkOutcomes {
  const codes = again.codes.split("").map((code, at) => {
    const before = first?.codes[at] ?? outcomeCodes.unknown;
    return before === outcomeCodes.unknown && first ? code : before;
  });
  return { codes: codes.join(""), fields: first?.fields };
}
