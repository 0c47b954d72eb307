import { silent } from "../../output/view.ts";
import { command } from "../command.ts";
import { importFlags, readImportOptions } from "../import-flags.ts";
import { flattenSummary, statusOfImport } from "../import-view.ts";

export const productsImport = command({
  name: "products import",
  summary: "Import products from CSV files (- is standard input)",
  argument: "<file...>",
  flags: { update: { summary: "change products that are there, instead of creating them" }, ...importFlags },
  run: async (context, { arguments: files, flags }) => {
    const { runImport } = await import("../import-run.ts");
    const options = { ...readImportOptions(flags), update: flags.update ?? false };
    return runImport(context, { kind: "products", files, options });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
