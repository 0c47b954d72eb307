import { usageError } from "../../../config/user-error.ts";
import {
  emailCategories,
  type EmailCategory,
  emailCounters,
  type EmailCounter,
  recordedCategories,
} from "../../../contract/emails/categories.ts";
import { command } from "../../program/command.ts";
import { oneOf, readOneOf } from "../../program/flag-values.ts";
import { readRelativeDay, type RelativeTime } from "../../program/relative-time.ts";
import { readScreen } from "../../program/output/screen.ts";
import { drawTimeChart } from "../../../terminal/time-chart.ts";
import { line, table, text as linesOf, type View } from "../../../terminal/view.ts";
import { formatNumber } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";
import { dayMs } from "../../../contract/time.ts";

/** The row ranges that the service supports. */
const aggregates = ["day", "week", "month", "quarter", "year"] as const;

/** Wider charts are harder to read. */
const maxChartWidth = 120;

export default command({
  summary: "Show email statistics: sent, opened, clicked, bounced, and so on",
  calls: "read",
  examples: ["starpost mail stats", "starpost mail stats --since 2026-01-01 --aggregate month --plot"],
  flags: {
    since: {
      value: "<day>",
      description: "first day, UTC: a date, or an age such as 7d (default: 29 days before the last)",
      read: readRelativeDay,
    },
    to: { value: "<day>", description: "last day, UTC (default: today)", read: readRelativeDay },
    categories: {
      value: "<list>",
      description: "only these categories, separated by commas: map,reminder",
      values: recordedCategories,
      read: readCategories,
    },
    aggregate: {
      value: "<range>",
      description: `time range of each row: ${aggregates.join(", ")}`,
      ...oneOf(aggregates),
    },
    plot: { description: "draw a chart over time" },
  },
  run: async (context, { flags }) => {
    const isPlot = flags.plot ?? false;
    if (isPlot && context.globals.format !== "table") {
      throw usageError(
        `--plot cannot be used with --format ${context.globals.format}`,
        "For the same data, use --aggregate day.",
      );
    }
    const { since, to, categories = emailCategories, aggregate = isPlot ? "day" : undefined } = flags;
    const stats = await readStats(context, { since, to }, categories, aggregate);
    if (Object.values(stats.totals).every((count) => count === 0)) {
      context.messages.info(`No emails from ${stats.since_date} to ${stats.to_date}.`);
    }
    const isTable = context.globals.format === "table";
    const { width } = readScreen(context.io);
    return { ...stats, screen: isTable ? { width, isPlot } : undefined };
  },
  render: ({ screen, ...stats }) =>
    screen?.isPlot ? plotStats(stats, Math.min(maxChartWidth, screen.width)) : viewStats(stats, screen?.width),
});

const defaultDays = 30;

type Counters = Readonly<Record<EmailCounter, number>>;

/** The counters of a range of days, summed over the requested categories. */
interface RangeStats {
  readonly since_date: string;
  readonly to_date: string;
  readonly counters: Counters;
}

interface MailStats {
  readonly since_date: string;
  readonly to_date: string;
  readonly categories: readonly EmailCategory[];
  readonly totals: Counters;
  /** Absent without --aggregate. */
  readonly ranges?: readonly RangeStats[];
}

/** Reads a comma-separated list of categories. */
function readCategories(text: string, flag: string): readonly EmailCategory[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names)].map((name) => readOneOf(name, recordedCategories, flag));
}

/**
 * Reads the counters, in total and per range if requested.
 * @throws UserError `usage`; ServiceError
 */
async function readStats(
  context: Context,
  given: { readonly since: RelativeTime | undefined; readonly to: RelativeTime | undefined },
  categories: readonly EmailCategory[],
  aggregate: (typeof aggregates)[number] | undefined,
): Promise<MailStats> {
  const nowMs = context.io.clock();
  const to_date = given.to?.(nowMs) ?? dateOf(nowMs);
  const since_date = given.since?.(nowMs) ?? dateOf(Date.parse(to_date) - (defaultDays - 1) * dayMs);
  if (since_date > to_date) {
    const end = given.to ? "--to" : "today";
    throw usageError(`invalid value "${since_date}" for --since: must not be after ${end} (${to_date})`);
  }
  const query = { since_date, to_date, categories: categories.join(","), aggregate: aggregate ?? "year" } as const;
  const found = await context.withService((service) =>
    categories.every((category) => emailCategories.includes(category))
      ? service.emails.stats(query)
      : service.emails.statsOfAll(query),
  );
  const ranges = sumCategories(Object.values(found));
  const totals = sumCounters(ranges.map(({ counters }) => counters));
  return { since_date, to_date, categories, totals, ...(aggregate && { ranges }) };
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Sums the categories, which all have the same ranges. */
function sumCategories(found: readonly Readonly<Record<string, Counters>>[]): readonly RangeStats[] {
  return Object.keys(found[0] ?? {}).map((range) => {
    const [since_date = "", to_date = ""] = range.split(",");
    return { since_date, to_date, counters: sumCounters(found.flatMap((ranges) => ranges[range] ?? [])) };
  });
}

function sumCounters(counted: readonly Counters[]): Counters {
  const sums = emailCounters.map((name) => [name, counted.reduce((sum, counters) => sum + counters[name], 0)]);
  return Object.fromEntries(sums) as Counters;
}

const orderedCounters: readonly EmailCounter[] = [
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
 * Shows one row per counter, or one row per range. A terminal shows only nonzero counters; other output has all columns,
 * so that they do not depend on the data.
 * @param width of the terminal, or undefined for other output
 */
function viewStats({ totals, ranges }: MailStats, width?: number): View {
  if (!ranges) {
    return table(
      orderedCounters.map((counter) => ({ counter, count: totals[counter] })),
      ["counter", "count"],
    );
  }
  const rows = ranges.map(({ since_date, to_date, counters }) => ({ since: since_date, to: to_date, ...counters }));
  if (width === undefined) return table(rows, ["since", "to", ...orderedCounters]);
  const nonzero = orderedCounters.filter((name) => totals[name] > 0);
  const columns = ["since", "to", ...(nonzero.length > 0 ? nonzero : (["requests"] as const))];
  const needed = 2 * "2026-01-01".length + columns.slice(2).reduce((sum, name) => sum + 2 + name.length, 2);
  if (needed <= width) return table(rows, columns);
  return linesOf(ranges.map(formatRange), rows, columns);
}

function formatRange({ since_date, to_date, counters }: RangeStats): string {
  const nonzero = orderedCounters.filter((name) => counters[name] > 0);
  const parts = nonzero.map((name) => `${name.replaceAll("_", " ")} ${formatNumber(counters[name])}`);
  return `${since_date} to ${to_date}  ${parts.length > 0 ? parts.join(", ") : "none"}`;
}

/** Draws the nonzero counters over time. */
function plotStats({ totals, ranges = [] }: MailStats, width: number): View {
  const nonzero = orderedCounters.filter((name) => totals[name] > 0);
  const series = nonzero.map((name) => ({
    name: name.replaceAll("_", " "),
    values: ranges.map(({ counters }) => counters[name]),
  }));
  const span = [ranges[0]?.since_date ?? "", ranges.at(-1)?.to_date ?? ""] as const;
  const lines = series.length === 0 ? [] : drawTimeChart(series, span, width);
  return { ...line("line", ""), rows: lines.map((text) => ({ line: text })) };
}
