import { command } from "../../program/command.ts";
import { exportFlags } from "./export-flags.ts";
import { valuesOfField } from "../../program/field-values.ts";
import { isSummaryPrinted, statusOfExport, viewOfExport } from "./export-view.ts";

export const couponsExport = command({
  name: "coupons export",
  summary: "Export all unique coupon codes",
  examples: [
    "starpost coupons export --out coupons.csv",
    "starpost coupons export --action map_review --format ndjson",
  ],
  flags: {
    action: {
      value: "<action>",
      description: "only the codes of this action",
      values: valuesOfField("coupons.upload", "coupon_action"),
    },
    ...exportFlags,
  },
  run: async (context, { flags }) => {
    const { exportRecords } = await import("./export-run.ts");
    const { couponActions } = await import("../../../contract/coupons.ts");
    const { readOneOf } = await import("./import-flags.ts");
    const action = flags.action && readOneOf(flags.action, couponActions, "--action");
    return exportRecords(context, { noun: "coupons", flags, query: { action } });
  },
  render: viewOfExport,
  isPrinted: isSummaryPrinted,
  exitStatus: statusOfExport,
});
