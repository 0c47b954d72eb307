import type { Misnamed } from "../../../config/user-error.ts";
import { findClosestName } from "../../../import/mapping/names.ts";

/** Shorter input matches too many names. */
const minLength = 2;

/** Suggests the known name that is closest to an unknown one, or returns undefined if none is close. */
export function suggestName({ given, known }: Misnamed): string | undefined {
  if (given.replaceAll("-", "").length < minLength) return undefined;
  const closest = findClosestName(given, known);
  return closest === undefined ? undefined : `Did you mean ${closest}?`;
}
