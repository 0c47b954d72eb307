import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { flattenSummary, statusOfImport } from "./import-view.ts";
import { kindFlags, readKindOptions } from "./kind-flags.ts";

export const unsubscribersImport = command({
  name: "unsubscribers import",
  summary: "Unsubscribe the addresses of CSV files (- is standard input)",
  argument: "<file...>",
  examples: [
    "starpost unsubscribers import addresses.csv --type 1",
    "starpost unsubscribers import addresses.csv --type 1 --remove",
  ],
  flags: kindFlags.unsubscribers,
  run: async (context, { arguments: files, flags }) => {
    const { runImport } = await import("./import-run.ts");
    return runImport(context, {
      kind: "unsubscribers",
      files,
      options: await readKindOptions.unsubscribers(flags),
    });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: statusOfImport,
});
