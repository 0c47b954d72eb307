import { command } from "../../program/command.ts";
import { exportFlags, sinceFlag } from "./export-flags.ts";
import { isSummaryPrinted, statusOfExport, viewOfExport } from "./export-view.ts";

export const ordersExport = command({
  name: "orders export",
  summary: "Export all orders, a row a line item, in the columns that `orders import` reads",
  examples: [
    "starpost orders export --out orders.csv",
    "starpost orders export --since 2026-01-01 --format ndjson",
  ],
  flags: { ...sinceFlag, ...exportFlags },
  run: async (context, { flags }) => {
    const { exportRecords } = await import("./export-run.ts");
    return exportRecords(context, { noun: "orders", flags, query: { since: flags.since } });
  },
  render: viewOfExport,
  isPrinted: isSummaryPrinted,
  exitStatus: statusOfExport,
});
