import { command } from "../command.ts";
import { tableOfRuns } from "../import-view.ts";

export const importsList = command({
  name: "imports list",
  summary: "List import runs, the newest first",
  run: async (context) => {
    const { listImports } = await import("../../importer/import.ts");
    const { paths } = await context.surroundings();
    return listImports(paths.runsFolder);
  },
  render: tableOfRuns,
});
