import type { EmailAggregate } from "../../contract/index.ts";
import { dateOf } from "../kernel/times.ts";
import { dayMs } from "../../contract/time.ts";

/** Days since the epoch, UTC, both inclusive. */
export interface DayRange {
  readonly start: number;
  readonly end: number;
}

/** @param date a calendar date, YYYY-MM-DD */
export function toDay(date: string): number {
  return Date.parse(date) / dayMs;
}

/** Source: spec "Email statistics": `<start YYYY-MM-DD>,<end YYYY-MM-DD>`. */
export function formatRange({ start, end }: DayRange): string {
  return `${dateOf(start)},${dateOf(end)}`;
}

/** Returns the start of the range that follows the first `count` ranges. */
const rangeStarts: Readonly<Record<EmailAggregate, (since: number, count: number) => number>> = {
  day: (since, count) => since + count,
  week: (since, count) => since + 7 * count,
  month: (since, count) => addMonths(since, count),
  quarter: (since, count) => addMonths(since, 3 * count),
  year: (since, count) => addMonths(since, 12 * count),
};

/**
 * Splits a period into consecutive ranges.
 * Source: spec "Email statistics": the final range may be shorter. Assumed: the first range starts on the first day of
 * the period, and the others a week, month, quarter, or year later; in a month without that day, on its last day.
 */
export function splitRange({ start: since, end: to }: DayRange, aggregate: EmailAggregate): DayRange[] {
  const startOf = rangeStarts[aggregate];
  const ranges: DayRange[] = [];
  for (let start = since; start <= to;) {
    const next = startOf(since, ranges.length + 1);
    ranges.push({ start, end: Math.min(next - 1, to) });
    start = next;
  }
  return ranges;
}

/**
 * Returns the same day of another month, or the last day of that month if it is shorter.
 */
export function addMonths(day: number, months: number): number {
  const from = new Date(day * dayMs);
  const first = new Date(0);
  first.setUTCFullYear(from.getUTCFullYear(), from.getUTCMonth() + months, 1);
  const last = new Date(0);
  last.setUTCFullYear(first.getUTCFullYear(), first.getUTCMonth() + 1, 0);
  return first.getTime() / dayMs + Math.min(from.getUTCDate(), last.getUTCDate()) - 1;
}
