import { isCalendarDate } from "../../contract/index.ts";
import type { DateOrder } from "./layout.ts";

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** `Aug 14, 2018 8:43:09 PM`, `14 August 2018`, `14th Aug 2018 at 20:43`, `Mon, 23 Sep 2024 14:21:24 +0000`. */
const monthFirst = /^(?:[A-Za-z]{3,9},?\s+)?([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)/;
const dayFirst = /^(?:[A-Za-z]{3,9},?\s+)?(\d{1,2})(?:st|nd|rd|th)?\.?[\s-]+([A-Za-z]{3,9})\.?,?[\s-]+(\d{4})(?!\d)/;
const numbers = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/;

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

/** The orders of day, month, and year in a date of three numbers, by the value of `--date-format`. */
export const dateOrders = { dmy: "day-first", mdy: "month-first", ymd: "year-first" } as const satisfies Record<
  string,
  DateOrder
>;

const orders = Object.values(dateOrders);

/**
 * Reads the day of a date of three numbers: in the given order, or, without one, only if a single order makes it a date.
 * A year of two digits is in this century, and shows no order.
 * @returns YYYY-MM-DD, or the value unchanged
 */
export function readNumberedDate(value: string, order: DateOrder | undefined): string {
  const parts = numbers.exec(value);
  if (!parts) return value;
  const known = order ?? (parts[4]?.length === 4 ? orderOf(value) : undefined);
  return (known && readParts(parts, known)) ?? value;
}

/** The orders in which a value is a date. */
export function ordersOf(value: string): readonly DateOrder[] {
  const parts = numbers.exec(value);
  return parts ? orders.filter((order) => readParts(parts, order) !== undefined) : [];
}

/** The only order in which a value is a date. */
export function orderOf(value: string): DateOrder | undefined {
  const [order, other] = ordersOf(value);
  return other === undefined ? order : undefined;
}

/** Whether a date has the form that depends on the order. */
export function isNumberedDate(value: string): boolean {
  return numbers.test(value);
}

function readParts([, first = "", , second = "", last = ""]: RegExpExecArray, order: DateOrder): string | undefined {
  const [day, month, year] = {
    "day-first": [first, second, last],
    "month-first": [second, first, last],
    "year-first": [last, second, first],
  }[order];
  if (year === undefined || year.length === 1) return undefined;
  return asDate(year.length === 2 ? `20${year}` : year, Number(month), Number(day));
}

function asDate(year: string, month: number, day: number): string | undefined {
  const date = `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  return isCalendarDate(date) ? date : undefined;
}
