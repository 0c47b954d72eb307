import { command } from "../../program/command.ts";
import { exportFlags } from "./export-flags.ts";
import { isSummaryPrinted, statusOfExport, viewOfExport } from "./export-view.ts";

export const unsubscribersExport = command({
  name: "unsubscribers export",
  summary: "Export all addresses that get no mails of a type",
  examples: ["starpost unsubscribers export --out unsubscribers.csv"],
  flags: exportFlags,
  run: async (context, { flags }) => {
    const { exportRecords } = await import("./export-run.ts");
    return exportRecords(context, { noun: "unsubscribers", flags, query: {} });
  },
  render: viewOfExport,
  isPrinted: isSummaryPrinted,
  exitStatus: statusOfExport,
});
