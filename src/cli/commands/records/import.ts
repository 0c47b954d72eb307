import type { RecordKind } from "../../../import/kind.ts";
import { silent } from "../../../terminal/view.ts";
import { type CommandFactory, command } from "../../program/command.ts";
import { importFlagsOf, readImportOptions } from "./import-flags.ts";
import { checkSummaryColumns, flattenSummary, statusOfImport } from "./import-view.ts";

export default function importCommand(kind: RecordKind): CommandFactory {
  const { summary, examples } = kind.importCommand;
  return command({
    summary,
    database: "created",
    argument: "<file...>",
    examples,
    flags: importFlagsOf(kind),
    run: async (context, { arguments: files, flags }) => {
      await checkSummaryColumns(context.globals.columns);
      const options = readImportOptions(flags, kind);
      // First, so that it happens while this thread loads the importer and scans the files.
      if (!options.dryRun) await context.prepareBulk();
      const { runImport } = await import("./import-run.ts");
      return runImport(context, { kind: kind.name, files, options });
    },
    render: (result) => silent(flattenSummary(result)),
    exitStatus: (result) => statusOfImport(result),
  });
}
