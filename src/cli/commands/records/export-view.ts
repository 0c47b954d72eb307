import type { ExportResult } from "../../../export/export.ts";
import type { ExportFormat } from "../../../export/column-format.ts";
import { silent, type View } from "../../../terminal/view.ts";
import { exitStatus, type ExitStatus } from "../../program/exit-status.ts";

/** What an export did. */
export interface ExportSummary {
  readonly noun: string;
  readonly state: ExportResult["state"];
  /** Nothing where it went to standard output, which then has the records and no summary. */
  readonly file: string | null;
  readonly format: ExportFormat;
  readonly rows: number;
  readonly pages: number;
  readonly duration_ms: number;
}

export function viewOfExport(summary: ExportSummary): View {
  return silent({ ...summary });
}

/** On standard output the records are all that there is. */
export function isSummaryPrinted({ file }: ExportSummary): boolean {
  return file !== null;
}

export function statusOfExport({ state }: ExportSummary): ExitStatus {
  return state === "interrupted" ? exitStatus.interrupted : exitStatus.done;
}
