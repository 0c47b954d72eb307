import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { flattenSummary, statusOfImport } from "./import-view.ts";
import { kindFlags, readKindOptions } from "./kind-flags.ts";

export const productsImport = command({
  name: "products import",
  summary: "Import products from CSV files (- is standard input)",
  argument: "<file...>",
  examples: ["starpost products import products.csv", "starpost products import products.csv --update"],
  flags: kindFlags.products,
  run: async (context, { arguments: files, flags }) => {
    const { runImport } = await import("./import-run.ts");
    return runImport(context, { kind: "products", files, options: await readKindOptions.products(flags) });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
