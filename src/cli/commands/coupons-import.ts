import { Problem } from "../../config/problem.ts";
import { silent } from "../../output/view.ts";
import { command } from "../command.ts";
import { importFlags, readImportOptions, readOneOf } from "../import-flags.ts";
import { flattenSummary, statusOfImport } from "../import-view.ts";

export const couponsImport = command({
  name: "coupons import",
  summary: "Import unique coupon codes from CSV files (- is standard input)",
  argument: "<file...>",
  flags: {
    action: { takes: "<action>", summary: "map_review, map_share or map_review_share (required)" },
    ...importFlags,
  },
  run: async (context, { arguments: files, flags }) => {
    const { couponActions } = await import("../../contract/coupons.ts");
    const { runImport } = await import("../import-run.ts");
    if (flags.action === undefined) {
      throw new Problem("usage", "--action is missing", `It is one of: ${couponActions.join(", ")}.`);
    }
    const action = readOneOf(flags.action, couponActions, "--action");
    return runImport(context, { kind: "coupons", files, options: { ...readImportOptions(flags), action } });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
