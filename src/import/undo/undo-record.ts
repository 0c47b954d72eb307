import { existsSync, readFileSync } from "node:fs";
import writeFileAtomic from "write-file-atomic";
import { findRun, runPaths, type Manifest } from "../run/run-folder.ts";
import { usageError } from "../import-error.ts";

/** The state of a run's undo, without the rows. */
export interface UndoRecord {
  readonly state: "running" | "finished";
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly reversed: number;
  readonly kept: number;
  readonly impossible: number;
}

/** Undefined if nobody has begun to undo the run. */
export function readUndoRecord(runsFolder: string, id: string): UndoRecord | undefined {
  const path = runPaths(runsFolder, id).undo;
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as UndoRecord) : undefined;
}

export async function writeUndoRecord(runsFolder: string, id: string, record: UndoRecord): Promise<void> {
  await writeFileAtomic(runPaths(runsFolder, id).undo, `${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/**
 * The same, by the start of an ID.
 * @throws ImportError `usage` if there is no such run
 */
export function showUndoRecord(runsFolder: string, idOrStart: string): UndoRecord | undefined {
  return readUndoRecord(runsFolder, findRun(runsFolder, idOrStart).import_id);
}

/**
 * Rejects continuing a run that has been undone, even partly.
 * @throws ImportError `usage`
 */
export function rejectUndone({ import_id }: Manifest, runsFolder: string): void {
  const record = readUndoRecord(runsFolder, import_id);
  if (!record) return;
  const is = record.state === "finished" ? "was undone" : "is being undone";
  throw usageError(`${import_id} ${is} and cannot be continued`, "import the files again");
}
