import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { flattenSummary, statusOfImport } from "./import-view.ts";
import { kindFlags, readKindOptions } from "./kind-flags.ts";

export const couponsImport = command({
  name: "coupons import",
  summary: "Import unique coupon codes from CSV files (- is standard input)",
  argument: "<file...>",
  examples: [
    "starpost coupons import codes.csv --action map_review",
    "starpost coupons import codes.csv --action map_share --dry-run",
  ],
  flags: kindFlags.coupons,
  run: async (context, { arguments: files, flags }) => {
    const { runImport } = await import("./import-run.ts");
    return runImport(context, { kind: "coupons", files, options: await readKindOptions.coupons(flags) });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
