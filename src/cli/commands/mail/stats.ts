import { usageError } from "../../../config/user-error.ts";
import { emailCategories } from "../../../contract/emails/categories.ts";
import { command } from "../../program/command.ts";
import { oneOf } from "../../program/flag-values.ts";
import { readRelativeDay } from "../../program/relative-time.ts";
import { aggregates, plotStats, readCategories, readStats, viewStats } from "./stats-format.ts";
import { readScreen } from "../../program/output/screen.ts";

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
      values: emailCategories,
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
    const nowMs = context.io.clock();
    const stats = await readStats(context, {
      since: flags.since?.(nowMs),
      to: flags.to?.(nowMs),
      categories: flags.categories ?? emailCategories,
      aggregate: flags.aggregate ?? (isPlot ? "day" : undefined),
    });
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
