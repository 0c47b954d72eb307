import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { flattenSummary, statusOfImport } from "./import-view.ts";
import { kindFlags, readKindOptions } from "./kind-flags.ts";

export const ordersImport = command({
  name: "orders import",
  summary: "Import orders from CSV files, a row a line item (- is standard input)",
  argument: "<file...>",
  examples: [
    "starpost orders import orders.csv",
    "starpost orders import --max-errors 5% 'exports/*.csv'",
    "starpost orders import orders_export.csv --product-url 'https://shop.example/products/{product_id}'",
  ],
  flags: kindFlags.orders,
  run: async (context, { arguments: files, flags }) => {
    const { runImport } = await import("./import-run.ts");
    return runImport(context, { kind: "orders", files, options: await readKindOptions.orders(flags) });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
