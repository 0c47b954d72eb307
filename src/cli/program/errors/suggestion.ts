import type { Misnamed } from "../../../config/user-error.ts";
import { findClosestName } from "../../../import/mapping/names.ts";

/** Shorter input matches too many names. */
const minLength = 2;

/** Names that people use for the same command. */
const synonyms = [
  ["show", "get", "view"],
  ["delete", "remove"],
  ["create", "add", "new"],
] as const;

/** Suggests a synonym of an unknown name, or the closest known one. Returns undefined if there is neither. */
export function suggestName({ given, known }: Misnamed): string | undefined {
  if (given.replaceAll("-", "").length < minLength) return undefined;
  const group: readonly string[] = synonyms.find((names) => names.some((name) => name === given)) ?? [];
  const closest = known.find((name) => group.includes(name)) ?? findClosestName(given, known);
  return closest === undefined ? undefined : `Did you mean ${closest}?`;
}
