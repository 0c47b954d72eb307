import type { UndoRecord } from "../importer/undo/undo-record.ts";
import type { UndoneRun } from "../importer/undo/undone-run.ts";
import { formatNumber } from "../output/words.ts";

type Counts = Pick<UndoneRun, "reversed" | "kept" | "impossible">;

/** How many rows were, or would be, reversed and kept, and how many cannot be. */
export function describeCounts({ reversed, kept, impossible }: Counts, verb: string): string {
  const parts = [`${formatNumber(reversed)} ${reversed === 1 ? "row" : "rows"} ${verb} reversed`];
  parts.push(`${formatNumber(kept)} kept`);
  parts.push(`${formatNumber(impossible)} cannot be`);
  return parts.join(", ");
}

/** What came of an undo. */
export function describeUndone(found: UndoneRun): string[] {
  const { import_id, state, rows_file, rows_not_taken } = found;
  const lines = {
    planned: `Undoing ${import_id}: ${describeCounts(found, "would be")}. Nothing was changed.`,
    finished: `Undid ${import_id}: ${describeCounts(found, "were")}.`,
    interrupted: `Interrupted while undoing ${import_id}: ${describeCounts(found, "were")}; the rest is as it was.`,
    earlier: `${import_id} was undone before: ${describeCounts(found, "were")}.`,
  };
  const said = [lines[state]];
  if (rows_not_taken > 0) {
    said.push(
      `${formatNumber(rows_not_taken)} rows of the run were never taken: there is nothing to undo of them.`,
    );
  }
  const more = found.reversed + found.kept + found.impossible - found.rows.length;
  if (state === "finished" && more > 0) said.push(`${formatNumber(more)} more rows are not shown here.`);
  if (rows_file !== null) said.push(`What became of each row is in ${rows_file}`);
  if (state === "interrupted") said.push(`To go on: starpost imports undo ${import_id}`);
  return said;
}

/** That a run was undone before, or is half undone. */
export function describeUndoRecord(id: string, record: UndoRecord): string {
  if (record.state === "running") {
    return `${id} is partly undone since ${record.started_at}: \`starpost imports undo ${id}\` goes on with it.`;
  }
  return `${id} was undone at ${record.finished_at}: ${describeCounts(record, "were")}.`;
}
