import type { ImportSummary } from "../../../import/summary.ts";
import { type Cell, table, type View } from "../../../terminal/view.ts";
import { type ExitStatus, exitStatus } from "../../program/exit-status.ts";
import { describeFile, toneOfRun } from "./import-format.ts";

const summaryColumns = [
  "import_id",
  "kind",
  "files",
  "state",
  "rows_read",
  "rows_accepted",
  "rows_rejected",
  "rows_failed",
  "items_sent",
  "items_accepted",
  "items_rejected",
  "items_created",
  "items_changed",
  "items_unchanged",
  "calls_sent",
  "calls_retried",
  "calls_throttled",
  "started_at",
  "duration_ms",
  "rejects_file",
] as const;

/**
 * Checks the value of `--columns` before an import starts.
 * @throws UserError `usage` for an unknown column
 */
export async function checkSummaryColumns(wanted: readonly string[] | undefined): Promise<void> {
  const { checkColumns } = await import("../../program/output/print.ts");
  checkColumns(wanted, [...summaryColumns, "fixed_ids_file"]);
}

/** A run as one flat record. */
export function flattenSummary(summary: ImportSummary): Record<string, Cell> {
  const { rows, items, calls } = summary;
  const flat: Record<(typeof summaryColumns)[number], Cell> = {
    import_id: summary.import_id,
    kind: summary.kind,
    files: summary.files.join(" "),
    state: summary.state,
    rows_read: rows.read,
    rows_accepted: rows.accepted,
    rows_rejected: rows.rejected,
    rows_failed: rows.failed,
    items_sent: items.sent,
    items_accepted: items.accepted,
    items_rejected: items.rejected,
    items_created: items.created,
    items_changed: items.changed,
    items_unchanged: items.unchanged,
    calls_sent: calls.sent,
    calls_retried: calls.retried,
    calls_throttled: calls.throttled,
    started_at: summary.started_at,
    duration_ms: summary.duration_ms,
    rejects_file: summary.rejects_file,
  };
  return summary.fixed_ids_file === undefined ? flat : { ...flat, fixed_ids_file: summary.fixed_ids_file };
}

/** The start time is part of the ID, and the number of rows is the sum of the counts, so a table omits both. */
const tableColumns = ["id", "kind", "files", "state", "accepted", "rejected", "failed"];
const csvColumns = ["id", "kind", "files", "state", "started_at", "rows", "accepted", "rejected", "failed"];

/** The colors of a run's counts. */
export const countTones: NonNullable<View["tones"]> = {
  rejected: (count) => (Number(count) > 0 ? "yellow" : undefined),
  failed: (count) => (Number(count) > 0 ? "red" : undefined),
};

export function tableOfRuns(runs: readonly ImportSummary[]): View {
  const toneOf = new Map(runs.map((run) => [run.import_id, toneOfRun(run)]));
  const view = table(
    runs.map(({ import_id, kind, files, state, started_at, rows }) => ({
      id: import_id,
      kind,
      files: files.map((file) => (file === "-" ? file : describeFile(file))).join(" "),
      state,
      started_at,
      rows: rows.read,
      accepted: rows.accepted,
      rejected: rows.rejected,
      failed: rows.failed,
    })),
    // Rows fail only rarely, and a narrow terminal has no room for an empty column.
    tableColumns.filter((column) => column !== "failed" || runs.some(({ rows }) => rows.failed > 0)),
  );
  return {
    ...view,
    fileColumns: csvColumns,
    tones: { ...countTones, state: (_state, { id = null }) => toneOf.get(id as string | null) },
    wholeColumns: ["state"],
  };
}

type Finished = Pick<ImportSummary, "state" | "rows" | "verified">;

/** Whether everything that was verified is stored as it was sent. */
export function hasNoDifferences({ verified }: Pick<ImportSummary, "verified">): boolean {
  return !verified || verified.missing_count + verified.different_count === 0;
}

/**
 * The exit status for the result of a run or a plan.
 * Assumed: missing rows are worse than rejected rows, so they determine the status if both occur.
 */
export function statusOfImport({ state, rows, verified }: Finished): ExitStatus {
  if (state === "interrupted") return exitStatus.interrupted;
  if (state === "stopped") return exitStatus.stopped;
  if (state !== "finished") return exitStatus.failed;
  if (verified?.state === "interrupted") return exitStatus.interrupted;
  if (!hasNoDifferences({ verified })) return exitStatus.notThere;
  if (rows.failed > 0) return exitStatus.failed;
  return rows.rejected > 0 ? exitStatus.someRejected : exitStatus.done;
}
