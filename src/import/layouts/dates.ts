import { isCalendarDate } from "../../contract/index.ts";
import type { DateOrder } from "./layout.ts";

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** `Aug 14, 2018 8:43:09 PM`, `14 August 2018`, `14th Aug 2018 at 20:43`, `Mon, 23 Sep 2024 14:21:24 +0000`. */
const monthFirst = /^(?:[A-Za-z]{3,9},?\s+)?([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)/;
const dayFirst = /^(?:[A-Za-z]{3,9},?\s+)?(\d{1,2})(?:st|nd|rd|th)?\.?[\s-]+([A-Za-z]{3,9})\.?,?[\s-]+(\d{4})(?!\d)/;
const numbers = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)/;

/**
 * Reads the day of a date with an English month name, as written; a time and an offset are ignored.
 * @returns YYYY-MM-DD, or the value unchanged
 */
export function readNamedDate(value: string): string {
  const [, firstName, firstDay, firstYear] = monthFirst.exec(value) ?? [];
  const [, day = firstDay, name = firstName, year = firstYear] = dayFirst.exec(value) ?? [];
  const at = name === undefined ? -1 : months.indexOf(name.slice(0, 3).toLowerCase());
  return (at >= 0 && year !== undefined && day !== undefined && asDate(year, at + 1, Number(day))) || value;
}

/**
 * Reads the day of a date of three numbers with the year last: in the given order, or, without one, only if a number is
 * above 12. A date that the order makes invalid is not a date.
 * @returns YYYY-MM-DD, or the value unchanged
 */
export function readNumberedDate(value: string, order: DateOrder | undefined): string {
  const parts = numbers.exec(value);
  if (!parts) return value;
  const [first, second] = [Number(parts[1]), Number(parts[3])];
  const known = order ?? orderOf(value);
  if (known === undefined) return value;
  const [day, month] = known === "day-first" ? [first, second] : [second, first];
  return asDate(parts[4] ?? "", month, day) ?? value;
}

/** The order that a date shows by itself, since no month is above 12. */
export function orderOf(value: string): DateOrder | undefined {
  const parts = numbers.exec(value);
  const [first, second] = [Number(parts?.[1] ?? 0), Number(parts?.[3] ?? 0)];
  if (first > 12 && second <= 12) return "day-first";
  return second > 12 && first <= 12 ? "month-first" : undefined;
}

/** Whether a date has the form that depends on the order. */
export function isNumberedDate(value: string): boolean {
  return numbers.test(value);
}

function asDate(year: string, month: number, day: number): string | undefined {
  const date = `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  return isCalendarDate(date) ? date : undefined;
}
