import { UserError } from "../../../config/user-error.ts";
import {
  emailCategories,
  type EmailCategory,
  emailCounters,
  type EmailCounter,
} from "../../../contract/emails/categories.ts";
import { drawTimeChart } from "../../../terminal/time-chart.ts";
import { line, table, text as linesOf, type View } from "../../../terminal/view.ts";
import { formatNumber } from "../../../terminal/plural.ts";
import { withService } from "../../program/with-service.ts";
import type { Context } from "../../program/context.ts";
import { readOneOf } from "../records/import-flags.ts";
import { dayMs } from "../../../contract/time.ts";

/** Days that are told of where no day is given. */
const usualDays = 30;

/** The ranges that numbers are told for, by their names at the service. */
export const aggregates = ["day", "week", "month", "quarter", "year"] as const;
export type Aggregate = (typeof aggregates)[number];

type Counters = Readonly<Record<EmailCounter, number>>;

/** What was counted of mails from the first day of a range to its last, all asked categories together. */
interface CountedRange {
  readonly since_date: string;
  readonly to_date: string;
  readonly counters: Counters;
}

export interface MailStats {
  readonly since_date: string;
  readonly to_date: string;
  readonly categories: readonly EmailCategory[];
  readonly totals: Counters;
  /** Absent where no ranges were asked for. */
  readonly ranges?: readonly CountedRange[];
}

export interface StatsRequest {
  readonly since: string | undefined;
  readonly to: string | undefined;
  readonly categories: readonly EmailCategory[];
  readonly aggregate: Aggregate | undefined;
}

/** Categories with commas between. */
export function readCategories(text: string, flag: string): readonly EmailCategory[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names)].map((name) => readOneOf(name, emailCategories, flag));
}

/**
 * Reads what was counted, by ranges where they are asked for.
 * @throws UserError `usage`; ServiceError
 */
export async function readStats(context: Context, request: StatsRequest): Promise<MailStats> {
  const to_date = request.to ?? dateOf(context.io.clock());
  const since_date = request.since ?? dateOf(Date.parse(to_date) - (usualDays - 1) * dayMs);
  if (since_date > to_date) {
    throw new UserError(
      "usage",
      `--since ${since_date} is after ${request.to ? "--to" : "today,"} ${to_date}`,
      "Give the earlier day to --since.",
    );
  }
  const { categories, aggregate } = request;
  const found = await withService(context, (service) =>
    service.emails.stats({
      since_date,
      to_date,
      categories: categories.join(","),
      aggregate: aggregate ?? "year",
    }),
  );
  const ranges = addCategories(Object.values(found));
  const totals = addUp(ranges.map(({ counters }) => counters));
  return { since_date, to_date, categories, totals, ...(aggregate && { ranges }) };
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Every category has the same ranges. */
function addCategories(found: readonly Readonly<Record<string, Counters>>[]): readonly CountedRange[] {
  return Object.keys(found[0] ?? {}).map((range) => {
    const [since_date = "", to_date = ""] = range.split(",");
    return { since_date, to_date, counters: addUp(found.flatMap((ranges) => ranges[range] ?? [])) };
  });
}

function addUp(counted: readonly Counters[]): Counters {
  const sums = emailCounters.map((name) => [
    name,
    counted.reduce((sum, counters) => sum + counters[name], 0),
  ]);
  return Object.fromEntries(sums) as Counters;
}

/** The counters in the order in which things happen to a mail. */
const inOrder: readonly EmailCounter[] = [
  "requests",
  "delivered",
  "opens",
  "unique_opens",
  "clicks",
  "unique_clicks",
  "bounces",
  "repeat_bounces",
  "invalid_email",
  "blocked",
  "spam_drop",
  "spamreports",
  "repeat_spamreports",
  "unsubscribes",
  "repeat_unsubscribes",
];

/**
 * A line a counter; with ranges a line a range. A screen has the counters that anything was counted of; a spreadsheet,
 * whose columns are not to change with the numbers, has all.
 * @param width columns of the screen; nothing where it is for none
 */
export function viewStats({ totals, ranges }: MailStats, width?: number): View {
  if (!ranges) {
    return table(
      inOrder.map((counter) => ({ counter, mails: totals[counter] })),
      ["counter", "mails"],
    );
  }
  const rows = ranges.map(({ since_date, to_date, counters }) => ({
    since: since_date,
    to: to_date,
    ...counters,
  }));
  if (width === undefined) return table(rows, ["since", "to", ...inOrder]);
  const counted = inOrder.filter((name) => totals[name] > 0);
  const columns = ["since", "to", ...(counted.length > 0 ? counted : (["requests"] as const))];
  const needed = 2 * "2026-01-01".length + columns.slice(2).reduce((sum, name) => sum + 2 + name.length, 2);
  if (needed <= width) return table(rows, columns);
  return linesOf(ranges.map(writeRange), rows, columns);
}

function writeRange({ since_date, to_date, counters }: CountedRange): string {
  const counted = inOrder.filter((name) => counters[name] > 0);
  const told = counted.map((name) => `${name.replaceAll("_", " ")} ${formatNumber(counters[name])}`);
  return `${since_date} to ${to_date}  ${told.length > 0 ? told.join(", ") : "nothing"}`;
}

/** The counters over time, those that anything was counted of. */
export function plotStats({ totals, ranges = [] }: MailStats, width: number): View {
  const counted = inOrder.filter((name) => totals[name] > 0);
  const series = counted.map((name) => ({
    name: name.replaceAll("_", " "),
    values: ranges.map(({ counters }) => counters[name]),
  }));
  const span = [ranges[0]?.since_date ?? "", ranges.at(-1)?.to_date ?? ""] as const;
  const lines = series.length === 0 ? [] : drawTimeChart(series, span, width);
  return { ...line("line", ""), rows: lines.map((text) => ({ line: text })) };
}
