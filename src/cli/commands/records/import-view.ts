import type { ImportSummary } from "../../../import/summary.ts";
import { type Cell, table, type View } from "../../../terminal/view.ts";
import { type ExitStatus, exitStatus } from "../../program/exit-status.ts";
import { describeFile, toneOfRun } from "./import-format.ts";

/** The counts of a run, which are fields such as `rows_read` of a flat record. */
const countNames = {
  rows: ["read", "accepted", "rejected", "failed"],
  items: ["sent", "accepted", "rejected", "created", "changed", "unchanged"],
  calls: ["sent", "retried", "throttled"],
} as const;

export function flattenCounts(group: keyof typeof countNames, counts: object): Record<string, Cell> {
  const values = counts as Readonly<Record<string, Cell>>;
  return Object.fromEntries(countNames[group].map((name) => [`${group}_${name}`, values[name] ?? null]));
}

/**
 * Checks the value of `--columns` before an import starts.
 * @throws UserError `usage` for an unknown column
 */
export async function checkSummaryColumns(wanted: readonly string[] | undefined): Promise<void> {
  const { checkColumns } = await import("../../program/output/print.ts");
  const counts = Object.entries(countNames).flatMap(([group, names]) => names.map((name) => `${group}_${name}`));
  const after = ["started_at", "duration_ms", "rejects_file", "fixed_ids_file"];
  checkColumns(wanted, ["import_id", "kind", "files", "state", ...counts, ...after]);
}

/** A run as one flat record. */
export function flattenSummary(summary: ImportSummary): Record<string, Cell> {
  const { import_id, kind, files, state, rows, items, calls } = summary;
  const { started_at, duration_ms, rejects_file, fixed_ids_file } = summary;
  return {
    import_id,
    kind,
    files: files.join(" "),
    state,
    ...flattenCounts("rows", rows),
    ...flattenCounts("items", items),
    ...flattenCounts("calls", calls),
    started_at,
    duration_ms,
    rejects_file,
    ...(fixed_ids_file !== undefined && { fixed_ids_file }),
  };
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
