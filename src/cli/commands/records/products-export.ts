import { command } from "../../program/command.ts";
import { exportFlags } from "./export-flags.ts";
import { isSummaryPrinted, statusOfExport, viewOfExport } from "./export-view.ts";

export const productsExport = command({
  name: "products export",
  summary: "Export all products, in the columns that `products import` reads",
  examples: ["starpost products export --out products.csv"],
  flags: exportFlags,
  run: async (context, { flags }) => {
    const { exportRecords } = await import("./export-run.ts");
    return exportRecords(context, { noun: "products", flags, query: {} });
  },
  render: viewOfExport,
  isPrinted: isSummaryPrinted,
  exitStatus: statusOfExport,
});
