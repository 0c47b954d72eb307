import { command } from "../../program/command.ts";
import { tableOfRuns } from "../records/import-view.ts";

export const importsList = command({
  name: "imports list",
  summary: "List import runs, newest first",
  examples: ["starpost imports list", "starpost imports list --json | jq -r '.[0].import_id'"],
  run: async (context) => {
    const { listImports } = await import("../../../import/import.ts");
    const { paths } = await context.host();
    const runs = await listImports(paths.runsFolder);
    if (runs.length === 0) {
      context.messages.info("No import runs found. To create one, run `starpost orders import <file>`.");
    }
    return runs;
  },
  render: tableOfRuns,
});
