import type { UndoRecord } from "../../../import/undo/undo-record.ts";
import type { UndoneRun } from "../../../import/undo/undone-run.ts";
import { findKind } from "../../../records/index.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";

type Counts = Pick<UndoneRun, "kind" | "reversed" | "kept" | "impossible">;

/** Formats the numbers of rows that were, or would be, reverted and kept, and of those that cannot be reverted. */
export function describeCounts({ kind, reversed, kept, impossible }: Counts, tense: "past" | "would"): string {
  const verb = tense === "would" ? "would be" : reversed === 1 ? "was" : "were";
  const effect = findKind(kind).undoEffect;
  return [
    `${countOf(reversed, "row")} ${verb} reverted${effect === undefined ? "" : ` (${effect})`}`,
    `${formatNumber(kept)} kept`,
    `${formatNumber(impossible)} cannot be reverted`,
  ].join(", ");
}

export function describeUndone(found: UndoneRun): string[] {
  const { import_id, state, rows_file, rows_not_taken } = found;
  const lines = {
    planned: `Undo of ${import_id}: ${describeCounts(found, "would")}. Nothing was changed.`,
    finished: `Undid ${import_id}: ${describeCounts(found, "past")}.`,
    interrupted: `Interrupted while undoing ${import_id}: ${describeCounts(found, "past")}; the other rows are unchanged.`,
    earlier: `${import_id} has already been undone: ${describeCounts(found, "past")}.`,
  };
  const messages = [lines[state]];
  if (rows_not_taken > 0) {
    messages.push(
      `${countOf(rows_not_taken, "row of the import was", "rows of the import were")} not accepted, so there is nothing to undo.`,
    );
  }
  const more = found.reversed + found.kept + found.impossible - found.rows.length;
  if (state === "finished" && more > 0) {
    const which = found.rows.length === 0 ? ["row is", "rows are"] : ["more row is", "more rows are"];
    messages.push(`${countOf(more, ...(which as [string, string]))} not shown here.`);
  }
  if (rows_file !== null) messages.push(`Result of each row: ${rows_file}`);
  if (state === "interrupted") messages.push(`To continue, run: starpost imports undo ${import_id}`);
  return messages;
}

/** Describes an earlier undo, complete or not. */
export function describeUndoRecord(id: string, kind: string, record: UndoRecord): string {
  if (record.state === "running") {
    return `${id} is partly undone (started at ${record.started_at}). To continue, run: starpost imports undo ${id}`;
  }
  return `${id} was undone at ${record.finished_at}: ${describeCounts({ kind, ...record }, "past")}.`;
}

export function describeKey(kind: string, key: string): string {
  return findKind(kind).describeKey?.(key) ?? key;
}
