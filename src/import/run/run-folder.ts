import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import writeFileAtomic from "write-file-atomic";
import type { FileFormat } from "../csv/file-format.ts";
import { ImportError, usageError } from "../import-error.ts";
import type { ImportOptions } from "../options.ts";
import type { ImportSummary, ItemCounts, RunState } from "../summary.ts";
import { type JournalEntry, readEntries, settle, type Totals } from "./journal.ts";
import { FileLock } from "../../storage/file-lock.ts";

/** The options and files of a run; never contains a secret. */
export interface Manifest {
  readonly format: 1;
  readonly import_id: string;
  readonly kind: string;
  readonly files: readonly ManifestFile[];
  readonly options: ImportOptions;
  readonly profile: string;
  readonly target: string;
  /** The folder with the data of starpost, which may contain the target and may be moved. */
  readonly data_folder?: string;
  readonly version: string;
  readonly started_at: string;
  readonly state: RunState;
  readonly rejects_file: string | null;
  /** What the last attempt reported about the rows. */
  readonly notices?: readonly string[];
  /** When the files were removed, because they contained a customer whose data was erased. */
  readonly files_removed_at?: string;
}

export interface ManifestFile {
  /** As given on the command line; `-` is standard input. */
  readonly given: string;
  /** Absolute; for standard input, the copy in the run's folder. */
  readonly path: string;
  /** The name in the zip archive at `path`; size and hash are the archive's. */
  readonly entry?: string | undefined;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly format: FileFormat;
}

export const noTotals: Totals = {
  rows: { read: 0, accepted: 0, rejected: 0, failed: 0 },
  items: { sent: 0, accepted: 0, rejected: 0, created: 0, changed: 0, unchanged: 0 },
  calls: { sent: 0, retried: 0, throttled: 0 },
};

export function runPaths(runsFolder: string, id: string) {
  const folder = join(runsFolder, id);
  return {
    folder,
    manifest: join(folder, "manifest.json"),
    lock: join(folder, "lock"),
    journal: join(folder, "journal.ndjson"),
    rejects: join(folder, "rejects.csv"),
    keys: join(folder, "keys.db"),
    verified: join(folder, "verified.json"),
    before: join(folder, "before.db"),
    undo: join(folder, "undo.json"),
    undoStore: join(folder, "undo.db"),
    undoRows: join(folder, "undo.csv"),
    fixedIds: join(folder, "fixed-ids.csv"),
    fixedIdStore: join(folder, "fixed-ids.db"),
  };
}

/** Creates a folder for a new run; its ID sorts by time. */
export function createRunFolder(runsFolder: string, nowMs: number, random: (bytes: number) => Buffer): string {
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const id = `${stamp}-${random(3).toString("hex")}`;
  createRunsFolder(runsFolder, id);
  return id;
}

export async function writeManifest(runsFolder: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify({ ...manifest, data_folder: dirname(runsFolder) }, null, 2)}\n`;
  await writeFileAtomic(runPaths(runsFolder, manifest.import_id).manifest, text, { mode: 0o600 });
}

/**
 * Finds a run by its ID or a unique prefix of it.
 * @throws ImportError `failed` if no run matches, `usage` if several do
 */
export function findRun(runsFolder: string, idOrStart: string): Manifest {
  const known = listRunIds(runsFolder);
  const found = known.filter((id) => id.startsWith(idOrStart));
  const id = found.includes(idOrStart) ? idOrStart : found.length === 1 ? found[0] : undefined;
  if (id === undefined || idOrStart === "") {
    const problem =
      found.length > 1
        ? `ambiguous ID "${idOrStart}": ${found.length} imports match`
        : `no import has the ID "${idOrStart}"`;
    throw new ImportError(found.length > 1 ? "usage" : "failed", problem, {
      hint: "to list all imports, run: starpost imports list",
      ...(found.length === 0 && { misnamed: { given: idOrStart, known } }),
    });
  }
  return readManifest(runsFolder, id);
}

function readManifest(runsFolder: string, id: string): Manifest {
  const manifest = JSON.parse(readFileSync(runPaths(runsFolder, id).manifest, "utf8")) as Manifest;
  if (manifest.format !== 1) {
    const problem = `${id}: a newer version of starpost created this import`;
    throw new ImportError("failed", problem, { hint: "update starpost" });
  }
  return { ...manifest, target: relocate(manifest, dirname(runsFolder)) };
}

/** Where the target of a run is now: a database in the data folder moves with it. */
function relocate({ target, data_folder: from }: Manifest, to: string): string {
  return from !== undefined && target.startsWith(`${from}${sep}`) ? to + target.slice(from.length) : target;
}

/** The readable manifests, newest first: an unreadable one must not hide the others. */
export function listManifests(runsFolder: string): Manifest[] {
  const found = listRunIds(runsFolder).flatMap((id) => {
    try {
      return [readManifest(runsFolder, id)];
    } catch {
      return [];
    }
  });
  // IDs have a resolution of one second.
  return found.toSorted((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at));
}

/** Newest first. A folder without a manifest, left by a crash, is not a run yet. */
function listRunIds(runsFolder: string): string[] {
  return readRunNames(runsFolder)
    .filter((id) => existsSync(runPaths(runsFolder, id).manifest))
    .toSorted()
    .toReversed();
}

/** @throws ImportError `failed` if the folder exists and cannot be read, such as that of another user */
function readRunNames(runsFolder: string): string[] {
  try {
    return readdirSync(runsFolder);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw new ImportError("failed", `cannot read the imports in ${runsFolder}: ${reasons[code] ?? message}`, {
      hint: "Check the owner and the permissions of the folder, or set STARPOST_HOME to a folder of your own.",
      cause: error,
    });
  }
}

/** The current state of a run: if it claims to be running but nobody holds its lock, it was interrupted. */
export function summarizeRun(runsFolder: string, manifest: Manifest): ImportSummary {
  const paths = runPaths(runsFolder, manifest.import_id);
  const settled = settle(withoutItems(readEntries(paths.journal)));
  const totals = settled.totals ?? noTotals;
  return {
    import_id: manifest.import_id,
    kind: manifest.kind,
    files: manifest.files.map(({ given }) => given),
    state: manifest.state === "running" && !isHeld(paths.folder) ? "interrupted" : manifest.state,
    rows: totals.rows,
    // The journals of older versions contain no outcomes.
    items: {
      ...noTotals.items,
      created: null,
      changed: null,
      unchanged: null,
      ...(totals.items as Partial<ItemCounts>),
    },
    calls: settled.calls,
    started_at: manifest.started_at,
    duration_ms: settled.durationMs,
    rejects_file: manifest.rejects_file ?? (existsSync(paths.rejects) ? paths.rejects : null),
    ...(existsSync(paths.fixedIds) ? { fixed_ids_file: paths.fixedIds } : {}),
  };
}

/** Omits what entries say about single items, of which a long run has many. */
function* withoutItems(entries: Iterable<JournalEntry>): Generator<JournalEntry> {
  for (const entry of entries) yield entry.t === "done" ? { ...entry, outcomes: undefined, problems: [] } : entry;
}

/** Whether another process is working on a run. */
export function isHeld(folder: string): boolean {
  const path = join(folder, "lock");
  // Checking a lock creates its file; without a file, nobody holds the lock.
  if (!existsSync(path)) return false;
  try {
    const lock = FileLock.acquire(path);
    lock?.close();
    return lock === undefined;
  } catch {
    // On a read-only file system, the recorded state is all that is known.
    return true;
  }
}

/** How long to wait for another process to release a run, in milliseconds. */
const lockWaitMs = 300;

/** @throws ImportError `usage` while another process holds the run */
export function lockRun(runsFolder: string, id: string): FileLock {
  const lock = FileLock.acquire(runPaths(runsFolder, id).lock, { waitMs: lockWaitMs });
  if (lock) return lock;
  throw usageError(`${id} is in progress in another process`, "wait until it finishes, or stop it");
}

/** @throws ImportError `usage` if the files of the run were removed */
export function rejectRemoved({ import_id, files_removed_at }: Manifest): void {
  if (files_removed_at === undefined) return;
  throw usageError(
    `the files of ${import_id} were removed on ${files_removed_at.slice(0, 10)} to erase a customer's data`,
    "without them, the import cannot be verified, undone, or reported",
  );
}

export function removeRunFolder(runsFolder: string, id: string): void {
  rmSync(runPaths(runsFolder, id).folder, { recursive: true, force: true });
}

/** The record of a command that starts several runs, such as a sync, in a folder of its own. */
export function runGroupPath(folder: string): string {
  return join(folder, "sync.json");
}

/**
 * Creates the folder of all runs, and one in it.
 * @throws ImportError if nothing can be recorded there
 */
export function createRunsFolder(runsFolder: string, id = ""): void {
  try {
    mkdirSync(join(runsFolder, id), { recursive: true, mode: 0o700 });
  } catch (error) {
    // Without its journal, an interrupted import could not be resumed, and nobody would know what was sent.
    const { code = "", message } = (findWriteError(runsFolder) ?? error) as NodeJS.ErrnoException;
    const problem = `cannot record the import in ${runsFolder}: ${reasons[code] ?? message}; nothing was sent`;
    throw new ImportError("failed", problem, {
      hint: "Set STARPOST_HOME to a writable folder, which keeps the journal, the rejects, and the settings. --dry-run needs none.",
      cause: error,
    });
  }
}

/** Why nothing can be created in a folder. On a read-only file system, creating folders only reports that they do not exist. */
function findWriteError(folder: string): unknown {
  if (!existsSync(folder)) return dirname(folder) === folder ? undefined : findWriteError(dirname(folder));
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "read-only file system",
  ENOENT: "the folder does not exist, and cannot be created",
  ENOSPC: "the disk is full",
};
