import { fields } from "../../output/view.ts";
import { command } from "../command.ts";
import { flattenSummary, runTones } from "../import-view.ts";

export const importsShow = command({
  name: "imports show",
  summary: "Show the books of an import run",
  argument: "<id>",
  examples: ["starpost imports show 20260131-094500-3f2a1c"],
  run: async (context, { arguments: [id = ""] }) => {
    const { showImport } = await import("../../importer/import.ts");
    const { showUndoRecord } = await import("../../importer/undo/undo-record.ts");
    const { describeUndoRecord } = await import("../undo-words.ts");
    const { paths } = await context.surroundings();
    const summary = await showImport(paths.runsFolder, id);
    const record = showUndoRecord(paths.runsFolder, id);
    if (record) context.talk.notice(describeUndoRecord(summary.import_id ?? id, summary.kind, record));
    return summary;
  },
  render: (summary) => ({
    ...fields(flattenSummary(summary)),
    tones: {
      state: runTones["state"],
      rows_rejected: runTones["rejected"],
      rows_failed: runTones["failed"],
    },
  }),
});
