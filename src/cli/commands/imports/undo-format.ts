import type { UndoRecord } from "../../../import/undo/undo-record.ts";
import type { UndoneRun } from "../../../import/undo/undone-run.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";

type Counts = Pick<UndoneRun, "kind" | "reversed" | "kept" | "impossible">;

/** How many rows were, or would be, reversed and kept, and how many cannot be. Of an order only its mails are. */
export function describeCounts(
  { kind, reversed, kept, impossible }: Counts,
  tense: "past" | "would",
): string {
  const isOne = reversed === 1;
  const had = tense === "past" ? "had" : "would have";
  const was = tense === "would" ? "would be" : isOne ? "was" : "were";
  const stopped = isOne ? "its mails stopped (the order stays)" : "their mails stopped (the orders stay)";
  const parts = [
    `${countOf(reversed, "row")} ${kind === "orders" ? `${had} ${stopped}` : `${was} reversed`}`,
    `${formatNumber(kept)} kept`,
    `${formatNumber(impossible)} cannot be`,
  ];
  return parts.join(", ");
}

/** What came of an undo. */
export function describeUndone(found: UndoneRun): string[] {
  const { import_id, state, rows_file, rows_not_taken } = found;
  const lines = {
    planned: `Undoing ${import_id}: ${describeCounts(found, "would")}. Nothing was changed.`,
    finished: `Undid ${import_id}: ${describeCounts(found, "past")}.`,
    interrupted: `Interrupted while undoing ${import_id}: ${describeCounts(found, "past")}; the rest is as it was.`,
    earlier: `${import_id} was undone before: ${describeCounts(found, "past")}.`,
  };
  const said = [lines[state]];
  if (rows_not_taken > 0) {
    said.push(
      `${countOf(rows_not_taken, "row of the run was", "rows of the run were")} never taken: there is nothing to undo of ${rows_not_taken === 1 ? "it" : "them"}.`,
    );
  }
  const more = found.reversed + found.kept + found.impossible - found.rows.length;
  if (state === "finished" && more > 0) {
    const which = found.rows.length === 0 ? ["row is", "rows are"] : ["more row is", "more rows are"];
    said.push(`${countOf(more, ...(which as [string, string]))} not shown here.`);
  }
  if (rows_file !== null) said.push(`What became of each row is in ${rows_file}`);
  if (state === "interrupted") said.push(`To go on: starpost imports undo ${import_id}`);
  return said;
}

/** That a run was undone before, or is half undone. */
export function describeUndoRecord(id: string, kind: string, record: UndoRecord): string {
  if (record.state === "running") {
    return `${id} is partly undone since ${record.started_at}: \`starpost imports undo ${id}\` goes on with it.`;
  }
  return `${id} was undone at ${record.finished_at}: ${describeCounts({ kind, ...record }, "past")}.`;
}

/** What a row wrote to, as a person knows it. */
export function describeKey(kind: string, key: string): string {
  const [, type, email] = kind === "unsubscribers" ? (/^(\d+):(.*)$/s.exec(key) ?? []) : [];
  return email === undefined ? key : `${email} (type ${type})`;
}
