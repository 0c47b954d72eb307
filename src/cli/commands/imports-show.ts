import { fields } from "../../output/view.ts";
import { command } from "../command.ts";
import { flattenSummary } from "../import-view.ts";

export const importsShow = command({
  name: "imports show",
  summary: "Show the books of an import run",
  argument: "<id>",
  run: async (context, { arguments: [id = ""] }) => {
    const { showImport } = await import("../../importer/import.ts");
    const { paths } = await context.surroundings();
    return showImport(paths.runsFolder, id);
  },
  render: (summary) => fields(flattenSummary(summary)),
});
