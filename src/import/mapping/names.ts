import { distance } from "fastest-levenshtein";

/** Header and field names are compared without regard to case, spaces, `_`, and `-`. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

/** Whether two names stand for the same field or column. */
export function isSameName(one: string, other: string): boolean {
  return normalizeName(one) === normalizeName(other);
}

/** A hint for an unknown name. */
export function suggest(wanted: string, names: readonly string[]): string {
  const closest = findClosestName(wanted, names);
  return closest === undefined ? `accepted values: ${names.slice(0, 20).join(", ")}` : `did you mean '${closest}'?`;
}

/** The name that contains the wanted one, or else the one with the fewest edits, if they are at most half of its letters. */
export function findClosestName(wanted: string, names: readonly string[]): string | undefined {
  const target = normalizeName(wanted);
  const countEdits = (name: string) => (name.includes(target) ? 0 : distance(target, name));
  const scored = names.map((name) => ({ name, edits: countEdits(normalizeName(name)) }));
  scored.sort((a, b) => a.edits - b.edits);
  const [best] = scored;
  if (!best) return undefined;
  return best.edits <= Math.max(target.length, normalizeName(best.name).length) / 2 ? best.name : undefined;
}

/** Cuts a text after a number of characters, but never within a surrogate pair. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}

/** The most names of columns or fields in a hint. */
export const maxNames = 12;

/** A few names, and the number of further ones; a single further one is named. */
export function listNames(names: readonly string[], most = 10): string {
  const more = names.length - most;
  return (more > 1 ? [...names.slice(0, most), `and ${more} more`] : names).join(", ");
}

/** Column names that hold a field: unambiguous ones, and vague ones that may mean something else. */
export interface FieldSynonyms {
  readonly plain: readonly string[];
  readonly vague: readonly string[];
  /** What the squashed name of a column must match to be a candidate at all. */
  readonly requires?: RegExp;
}

/**
 * Declares a field's synonyms, separated by `|`. Case, accents, and the characters between words are ignored.
 */
export function synonyms(plain: string, vague = ""): FieldSynonyms {
  const split = (list: string) => list.split("|").filter((name) => name !== "");
  return { plain: split(plain), vague: split(vague) };
}

export const rejectCodeColumn = "_code";

/** The columns that a reject file adds; an import ignores them. */
export const rejectColumns = ["_line", "_column", rejectCodeColumn, "_reason"] as const;

export function isRejectColumn(name: string): boolean {
  return (rejectColumns as readonly string[]).includes(name);
}

/** A file's header, and access to its rows. */
export interface HeaderFile {
  /** As messages name it. */
  readonly given: string;
  /** The argument of a command that reads it: the archive of a file in an archive. */
  readonly argument: string;
  readonly header: readonly string[];
  /** All values of a column, for decisions that the header alone does not allow. */
  readonly valuesOf: (column: number) => Iterable<string>;
}
