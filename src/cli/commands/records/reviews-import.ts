import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { flattenSummary, statusOfImport } from "./import-view.ts";
import { kindFlags, readKindOptions } from "./kind-flags.ts";

export const reviewsImport = command({
  name: "reviews import",
  summary: "Import reviews of the past from CSV files (- is standard input)",
  argument: "<file...>",
  examples: ["starpost reviews import reviews.csv", "starpost reviews import reviews.csv --dry-run"],
  flags: kindFlags.reviews,
  run: async (context, { arguments: files, flags }) => {
    const { runImport } = await import("./import-run.ts");
    return runImport(context, { kind: "reviews", files, options: await readKindOptions.reviews(flags) });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
