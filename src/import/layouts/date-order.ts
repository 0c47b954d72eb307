import { usageError } from "../import-error.ts";
import { isNumberedDate, orderOf } from "./dates.ts";
import type { DateOrder, Layout } from "./layout.ts";

/**
 * Finds the order of day and month in a file's dates: one date with a number above 12 is enough.
 * @returns undefined if no date depends on the order
 * @throws ImportError `usage` if a date depends on it and none shows it: a guess would send emails on wrong days
 */
export function findDateOrder(
  file: string,
  layout: Layout,
  column: string,
  values: Iterable<string>,
): DateOrder | undefined {
  let first: string | undefined;
  for (const value of values) {
    if (!isNumberedDate(value)) continue;
    const proven = orderOf(value);
    if (proven !== undefined) return proven;
    first ??= value;
  }
  if (first === undefined) return undefined;
  throw usageError(
    `${file}: the dates in '${column}', such as ${first}, may start with the day or the month`,
    `specify the order: --layout ${layout.name}-dmy for day first, --layout ${layout.name}-mdy for month first`,
  );
}
