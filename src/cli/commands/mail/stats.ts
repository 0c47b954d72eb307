import { UserError } from "../../../config/user-error.ts";
import { emailCategories } from "../../../contract/emails/categories.ts";
import { command } from "../../program/command.ts";
import { readDay } from "../../program/flag-values.ts";
import { readOneOf } from "../records/import-flags.ts";
import { aggregates, plotStats, readCategories, readStats, viewStats } from "./stats-format.ts";
import { readScreen } from "../../program/output/screen.ts";

/** Wider ones are harder to read, also where nothing limits them. */
const widestChart = 120;

export const mailStats = command({
  name: "mail stats",
  summary: "Count what became of mails: sent, opened, clicked, bounced, and so on",
  examples: ["starpost mail stats", "starpost mail stats --since 2026-01-01 --aggregate month --plot"],
  flags: {
    since: { value: "<day>", description: "the first day, UTC (29 days before the last)", read: readDay },
    to: { value: "<day>", description: "the last day, UTC (today)", read: readDay },
    categories: {
      value: "<list>",
      description: "of these kinds of mails alone: map,reminder",
      values: emailCategories,
      read: readCategories,
    },
    aggregate: {
      value: "<range>",
      description: `a row for each: ${aggregates.join(", ")}`,
      values: aggregates,
      read: (text: string, flag: string) => readOneOf(text, aggregates, flag),
    },
    plot: { description: "draw the numbers over time" },
  },
  run: async (context, { flags }) => {
    const isPlot = flags.plot ?? false;
    if (isPlot && context.globals.format !== "table") {
      throw new UserError(
        "usage",
        `--plot is for people, and not for --format ${context.globals.format}`,
        "Leave --plot away: --aggregate day gives the same numbers.",
      );
    }
    const stats = await readStats(context, {
      since: flags.since,
      to: flags.to,
      categories: flags.categories ?? emailCategories,
      aggregate: flags.aggregate ?? (isPlot ? "day" : undefined),
    });
    if (Object.values(stats.totals).every((mails) => mails === 0)) {
      context.messages.info(`Nothing was counted from ${stats.since_date} to ${stats.to_date}.`);
    }
    const isForPeople = context.globals.format === "table";
    const { width } = readScreen(context.io);
    return { ...stats, screen: isForPeople ? { width, isPlot } : undefined };
  },
  render: ({ screen, ...stats }) =>
    screen?.isPlot ? plotStats(stats, Math.min(widestChart, screen.width)) : viewStats(stats, screen?.width),
});
