import type * as z from "zod";
import {
  type contract,
  type EmailCategory,
  type EmailCounter,
  emailCounters,
  maxStats,
  ServiceError,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type DayRange, nameRange, splitRange, toDay } from "./time-ranges.ts";

type Query = z.output<typeof contract.emails.stats.input>;
type Counters = Record<EmailCounter, number>;
type Stats = Record<string, Record<string, Counters>>;

/**
 * Reads what was counted of mails, by category and range.
 * @returns category, then `<start>,<end>`, then the 15 counters
 * @throws ServiceError `invalidParams` when the days are the wrong way round, or too many
 * Source: spec "Mail and statistics". Assumed: every category that was asked for is there with every range, also where
 * nothing was counted; a mail counts on the day, UTC, of what happened to it.
 */
export async function readEmailStats(query: Query, context: HandlerContext): Promise<Stats> {
  const days = readDays(query);
  const ranges = splitRange(days, query.aggregate);
  if (ranges.length > maxStats.ranges) {
    throw new ServiceError(
      "invalidParams",
      `since_date to to_date holds more than ${maxStats.ranges} ranges: ask for longer ones with aggregate`,
    );
  }
  const stats = createStats(query.categories, ranges);
  const rangeOfDay = ranges.flatMap((range, at) => Array<number>(range.end - range.start + 1).fill(at));
  for (const { category, day, counter, mails } of await selectCounts(
    query.categories,
    days,
    context,
  ).execute()) {
    const counters = stats.get(category)?.[rangeOfDay[day - days.start] ?? -1];
    if (counters) counters[counter as EmailCounter] += mails;
  }
  const names = ranges.map(nameRange);
  return Object.fromEntries(
    [...stats].map(([category, counted]) => [
      category,
      Object.fromEntries(counted.map((counters, at) => [names[at], counters])),
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

function selectCounts(
  categories: readonly EmailCategory[],
  { start, end }: DayRange,
  context: HandlerContext,
) {
  return context.transaction
    .selectFrom("mail_counts")
    .select(["category", "day", "counter", "mails"])
    .where("account_id", "=", accountOf(context).id)
    .where("category", "in", categories)
    .where("day", ">=", start)
    .where("day", "<=", end);
}
