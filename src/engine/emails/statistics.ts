import type * as z from "zod";
import {
  type contract,
  type EmailAggregate,
  type EmailCategory,
  type EmailCounter,
  emailCounters,
  maxStats,
  ServiceError,
} from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { dateOf } from "../kernel/times.ts";
import { dayMs } from "../../contract/time.ts";

type Query = z.output<typeof contract.emails.stats.input>;
type Counters = Record<EmailCounter, number>;
type Stats = Record<string, Record<string, Counters>>;

/**
 * Reads email counters by category and date range.
 * @returns category, then `<start>,<end>`, then the 15 counters
 * @throws ServiceError `invalidParams` if the dates are in the wrong order, or the range is too long
 * Source: spec "Mail and statistics". Assumed: the result contains every requested category with every range, even if
 * all counters are zero; an event counts on its day in UTC.
 */
export async function readEmailStats(query: Query, context: HandlerContext): Promise<Stats> {
  const days = readDays(query);
  const ranges = splitRange(days, query.aggregate);
  if (ranges.length > maxStats.ranges) {
    throw new ServiceError(
      "invalidParams",
      `since_date to to_date contains more than ${maxStats.ranges} ranges; choose a longer aggregate`,
    );
  }
  const stats = createStats(query.categories, ranges);
  const rangeOfDay = ranges.flatMap((range, index) => Array<number>(range.end - range.start + 1).fill(index));
  const counts = await selectCounts(query.categories, days, context).execute();
  for (const { category, day, counter, mails } of counts) {
    const counters = stats.get(category)?.[rangeOfDay[day - days.start] ?? -1];
    if (counters) counters[counter as EmailCounter] += mails;
  }
  const names = ranges.map(formatRange);
  return Object.fromEntries(
    [...stats].map(([category, rangeCounters]) => [
      category,
      Object.fromEntries(rangeCounters.map((counters, index) => [names[index], counters])),
    ]),
  );
}

function readDays({ since_date, to_date }: Query): DayRange {
  const days = { start: toDay(since_date), end: toDay(to_date) };
  if (days.start > days.end) throw new ServiceError("invalidParams", "since_date is after to_date");
  if (days.end - days.start < maxStats.days) return days;
  throw new ServiceError("invalidParams", `since_date to to_date is longer than ${maxStats.days} days`);
}

function createStats(
  categories: readonly EmailCategory[],
  ranges: readonly DayRange[],
): ReadonlyMap<string, readonly Counters[]> {
  const zero = Object.fromEntries(emailCounters.map((name) => [name, 0])) as Counters;
  return new Map(categories.map((category) => [category, ranges.map(() => ({ ...zero }))]));
}

function selectCounts(categories: readonly EmailCategory[], { start, end }: DayRange, context: HandlerContext) {
  return selectAccountRows("mail_counts", accountOf(context).id, context.transaction)
    .select(["category", "day", "counter", "mails"])
    .where("category", "in", categories)
    .where("day", ">=", start)
    .where("day", "<=", end);
}

/** Days since the epoch, UTC, both inclusive. */
interface DayRange {
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
