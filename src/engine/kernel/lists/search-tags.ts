/** Records per group at each level, as powers of two of their IDs. */
const idLevels = [
  { letter: "a", bits: 9 },
  { letter: "b", bits: 14 },
  { letter: "c", bits: 19 },
] as const;

/** Days per group at each level, as powers of two. */
const dayLevels = [
  { letter: "d", bits: 0 },
  { letter: "e", bits: 8 },
] as const;

const dayMs = 86_400_000;

/** A search for more groups would compare each record with too many tags. */
const maxIdGroups = 16;
const maxDayGroups = 33;

const groupOf = (value: number, bits: number) => Math.floor(value / 2 ** bits);

/** Inclusive. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** A range of IDs, and the tags of its records; without tags, the range contains all records. */
export interface TaggedRange extends Range {
  readonly tags: readonly string[];
}

/** The tags that any record is found by: its ID and creation time, in groups of several sizes. */
export function listPositionTags({ id, createdMs }: { readonly id: number; readonly createdMs: number }): string[] {
  const day = Math.floor(createdMs / dayMs);
  return [
    ...idLevels.map(({ letter, bits }) => `${letter}${groupOf(id, bits)}`),
    ...dayLevels.map(({ letter, bits }) => `${letter}${groupOf(day, bits)}`),
  ];
}

/**
 * The first part of a range of IDs, of at least `wanted` IDs if the range has as many, with the tags of its groups. It has no tags if it
 * is the complete range, or if that would take too many.
 */
export function takeRange({ first, last }: Range, wanted: number, direction: "up" | "down"): TaggedRange {
  for (const { letter, bits } of idLevels) {
    const groups = Math.ceil(wanted / 2 ** bits);
    if (groups > maxIdGroups) continue;
    // One more, because the range can begin within a group.
    const start = direction === "up" ? groupOf(first, bits) : groupOf(last, bits) - groups;
    const from = Math.max(first, start * 2 ** bits);
    const to = Math.min(last, (start + groups + 1) * 2 ** bits - 1);
    if (from === first && to === last) break;
    return { first: from, last: to, tags: Array.from({ length: groups + 1 }, (_, at) => `${letter}${start + at}`) };
  }
  return { first, last, tags: [] };
}

/** The tags of the records of a range of time, and of some before and after it; empty if there would be too many. */
export function listTimeTags({ first, last }: Range): string[] {
  const [from, to] = [Math.floor(first / dayMs), Math.floor(last / dayMs)];
  for (const { letter, bits } of dayLevels) {
    const [start, end] = [groupOf(from, bits), groupOf(to, bits)];
    if (end - start < maxDayGroups) {
      return Array.from({ length: end - start + 1 }, (_, at) => `${letter}${start + at}`);
    }
  }
  return [];
}
