import { ImportError } from "../import-error.ts";
import { isNumberedDate, orderOf } from "./dates.ts";
import type { DateOrder, Layout } from "./layout.ts";

/**
 * The order of day and month that a file's dates prove: one that no month can be is enough.
 * @returns nothing where no date is written so that it matters
 * @throws ImportError `usage` where it matters, and no date proves it: a guess would mail people on wrong days
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
  throw new ImportError(
    "usage",
    `${file}: the dates in '${column}', such as ${first}, may have the day or the month first`,
    {
      hint: `say which: --layout ${layout.name}-dmy for the day first, --layout ${layout.name}-mdy for the month first`,
    },
  );
}
