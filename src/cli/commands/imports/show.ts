import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { toneOfRun } from "../records/import-format.ts";
import { countTones, flattenSummary } from "../records/import-view.ts";

export default command({
  summary: "Show the summary of an import run",
  database: "optional",
  argument: "<id>",
  examples: ["starpost imports show 20260131-094500-3f2a1c", "starpost imports show 20260131 --json"],
  run: async (context, { arguments: [id = ""] }) => {
    const { showImport } = await import("../../../import/import.ts");
    const { findRun } = await import("../../../import/run/run-folder.ts");
    const { showUndoRecord } = await import("../../../import/undo/undo-record.ts");
    const { describeUndoRecord } = await import("./undo-format.ts");
    const { paths } = await context.host();
    const summary = await showImport(paths.runsFolder, id);
    const record = showUndoRecord(paths.runsFolder, id);
    for (const message of findRun(paths.runsFolder, id).notices ?? []) context.messages.warn(message);
    if (record) context.messages.warn(describeUndoRecord(summary.import_id ?? id, summary.kind, record));
    if (context.globals.format === "table" && summary.rows.rejected + summary.rows.failed > 0) {
      const { describeReportedReasons } = await import("./reasons.ts");
      context.messages.info(describeReportedReasons(paths.runsFolder, id, context.io.redactor));
    }
    return summary;
  },
  render: (summary) => ({
    ...fields(flattenSummary(summary)),
    tones: {
      state: () => toneOfRun(summary),
      rows_rejected: countTones["rejected"],
      rows_failed: countTones["failed"],
    },
  }),
});
