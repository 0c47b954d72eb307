import { command } from "../../program/command.ts";
import { exportFlags, sinceFlag } from "./export-flags.ts";
import { isSummaryPrinted, statusOfExport, viewOfExport } from "./export-view.ts";

export const reviewsExport = command({
  name: "reviews export",
  summary: "Export all reviews, in the columns that `reviews import` reads",
  examples: ["starpost reviews export --out reviews.csv", "starpost reviews export --since 2026-01-01"],
  flags: { ...sinceFlag, ...exportFlags },
  run: async (context, { flags }) => {
    const { exportRecords } = await import("./export-run.ts");
    return exportRecords(context, { noun: "reviews", flags, query: { since: flags.since } });
  },
  render: viewOfExport,
  isPrinted: isSummaryPrinted,
  exitStatus: statusOfExport,
});
