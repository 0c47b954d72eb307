import { existsSync, readFileSync } from "node:fs";
import writeFileAtomic from "write-file-atomic";
import { findRun, runPaths, type Manifest } from "../run/run-folder.ts";
import { ImportError } from "../import-error.ts";

/** That a run is being undone, or was; without the rows. */
export interface UndoRecord {
  readonly state: "running" | "finished";
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly reversed: number;
  readonly kept: number;
  readonly impossible: number;
}

/** Nothing where nobody began to undo the run. */
export function readUndoRecord(runsFolder: string, id: string): UndoRecord | undefined {
  const path = runPaths(runsFolder, id).undo;
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as UndoRecord) : undefined;
}

export async function writeUndoRecord(runsFolder: string, id: string, record: UndoRecord): Promise<void> {
  await writeFileAtomic(runPaths(runsFolder, id).undo, `${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/** The same, by the start of an id. @throws ImportError `usage` when there is no such run */
export function showUndoRecord(runsFolder: string, idOrStart: string): UndoRecord | undefined {
  return readUndoRecord(runsFolder, findRun(runsFolder, idOrStart).import_id);
}

/**
 * What a run did is not gone on with once it is being taken back.
 * @throws ImportError `usage`
 */
export function refuseUndone({ import_id }: Manifest, runsFolder: string): void {
  const record = readUndoRecord(runsFolder, import_id);
  if (!record) return;
  const is = record.state === "finished" ? "was undone" : "is being undone";
  throw new ImportError("usage", `${import_id} ${is}: there is nothing to go on with`, {
    hint: "import the files anew",
  });
}
