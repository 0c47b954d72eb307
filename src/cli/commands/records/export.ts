import type { ExportQuery } from "../../../export/record-exporter.ts";
import type { RecordKind } from "../../../import/kind.ts";
import { type CommandFactory, command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { resolveTimes } from "../../program/relative-time.ts";
import { listKindFlags, outFlag, paceFlags, readKindFlags } from "./import-flags.ts";

const exportFlags = {
  out: outFlag("write to this file (default: standard output)"),
  "safe-for-excel": { description: "start the file with a byte order mark, so that Excel reads it as UTF-8" },
  rate: paceFlags.rate,
  "rate-share": paceFlags["rate-share"],
} as const;

export default function exportCommand(kind: RecordKind): CommandFactory {
  const { summary, examples, flags: kindFlags } = kind.exportCommand;
  return command({
    summary,
    examples,
    flags: { ...listKindFlags(kindFlags), ...exportFlags },
    run: async (context, { flags }) => {
      const { exportRecords } = await import("./export-run.ts");
      const query = resolveTimes(readKindFlags(kindFlags, flags), context.io.clock()) as ExportQuery;
      return exportRecords(context, kind, query, flags);
    },
    render: "silent",
    isPrinted: ({ file }) => file !== null,
    exitStatus: ({ state }) => (state === "interrupted" ? exitStatus.interrupted : exitStatus.done),
  });
}
