import type { ExportFormat } from "../../../export/column-format.ts";
import type { ExportResult } from "../../../export/export.ts";
import type { ExportQuery } from "../../../export/record-exporter.ts";
import type { RecordKind } from "../../../import/kind.ts";
import { silent } from "../../../terminal/view.ts";
import { type Command, command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { readText } from "../../program/flag-values.ts";
import { listKindFlags, paceFlags, readKindFlags } from "./import-flags.ts";

/** The flags of every export. */
export const exportFlags = {
  out: {
    value: "<file>",
    short: "o",
    description: "write to this file (default: standard output)",
    read: readText,
  },
  "safe-for-excel": {
    description: "prefix cells that a spreadsheet would run as a formula with ' (do not import such a file)",
  },
  rate: paceFlags.rate,
  "rate-share": paceFlags["rate-share"],
} as const;

/** The result of an export. */
export interface ExportSummary {
  readonly noun: string;
  readonly state: ExportResult["state"];
  /** Null for standard output, which then contains the records and no summary. */
  readonly file: string | null;
  readonly format: ExportFormat;
  readonly rows: number;
  readonly pages: number;
  readonly duration_ms: number;
}

/** The command that exports all records of a kind. */
export function exportCommand(kind: RecordKind): Command {
  const { summary, examples, flags: kindFlags } = kind.exportCommand;
  return command({
    name: `${kind.name} export`,
    summary,
    examples,
    flags: { ...listKindFlags(kindFlags), ...exportFlags },
    run: async (context, { flags }) => {
      const { exportRecords } = await import("./export-run.ts");
      const query = readKindFlags(kindFlags, flags) as ExportQuery;
      return exportRecords(context, { kind, flags, query });
    },
    render: (result: ExportSummary) => silent({ ...result }),
    isPrinted: ({ file }) => file !== null,
    exitStatus: ({ state }) => (state === "interrupted" ? exitStatus.interrupted : exitStatus.done),
  });
}
