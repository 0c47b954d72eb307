import { silent } from "../../output/view.ts";
import { command } from "../command.ts";
import { importFlags, readImportOptions, readOneOf } from "../import-flags.ts";
import { flattenSummary, statusOfImport } from "../import-view.ts";

export const ordersImport = command({
  name: "orders import",
  summary: "Import orders from CSV files, a row a line item (- is standard input)",
  argument: "<file...>",
  flags: {
    platform: { takes: "<name>", summary: "the store platform that the orders come from (general)" },
    "no-validate": { summary: "do without the service's extra checks; order_date may then be left out" },
    ...importFlags,
  },
  run: async (context, { arguments: files, flags }) => {
    const { platforms } = await import("../../contract/orders.ts");
    const { runImport } = await import("../import-run.ts");
    const options = {
      ...readImportOptions(flags),
      platform: readOneOf(flags.platform ?? "general", platforms, "--platform"),
      validate: !flags["no-validate"],
    };
    return runImport(context, { kind: "orders", files, options });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
