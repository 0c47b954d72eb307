import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { workFolderPrefix } from "../csv/rows-on-disk.ts";
import { isHeld, listManifests, type Manifest, runGroupPath } from "./run-folder.ts";
import { isRunId } from "./run-headers.ts";
import { FileLock } from "../../storage/file-lock.ts";
import { listTemporaryFolders } from "../../storage/temporary-folder.ts";
import type { RunState } from "../summary.ts";
import { dayMs } from "../../contract/time.ts";

/** Something that a purge removes: a run, the record of a sync, or the leftovers of a killed process. */
export interface Purged {
  /** Null for leftovers. */
  readonly import_id: string | null;
  readonly kind: string;
  readonly files: readonly string[];
  readonly state: RunState | "leftover";
  readonly last_used_at: string;
  readonly bytes: number;
  readonly path: string;
}

export interface PurgeSummary {
  readonly removed: readonly Purged[];
  readonly removed_bytes: number;
  /** Old enough but kept: in progress, or unfinished. */
  readonly kept: { readonly running: number; readonly unfinished: number };
}

export interface PurgeRequest {
  readonly olderThanMs: number;
  /** Whether to remove runs that could still be resumed. */
  readonly unfinished: boolean;
}

export interface PurgeDeps {
  readonly runsFolder: string;
  /** The folder of temporary folders for dry runs, plans, and exports. */
  readonly temporaryFolder: string;
  readonly clock: () => number;
  /**
   * Asks for confirmation before anything is removed.
   * @throws the error that ends the purge if the answer is no
   */
  readonly approve: (found: PurgeSummary) => Promise<void>;
}

/** A folder without a manifest may belong to a run that is reading standard input, or to a sync in progress. */
const leastLeftoverMs = dayMs;

/**
 * Removes runs that have not been written to for a while, with their rejects, and the leftovers of killed processes.
 * Never removes a run in progress.
 */
export async function purgeImports(request: PurgeRequest, deps: PurgeDeps): Promise<PurgeSummary> {
  const found = findPurgeable(request, deps);
  if (found.removed.length === 0) return found;
  await deps.approve(found);
  const removed = found.removed.filter((one) => remove(one));
  const running = found.kept.running + found.removed.length - removed.length;
  return { removed, removed_bytes: sumOf(removed), kept: { ...found.kept, running } };
}

type FindDeps = Omit<PurgeDeps, "approve"> & {
  /** Whether to leave the locks of finished runs alone: checking a lock acquires it for a moment. */
  readonly leavesFinished?: boolean;
};

/** Finds what a purge would remove and what it would keep; changes nothing. */
export function findPurgeable(request: PurgeRequest, deps: FindDeps): PurgeSummary {
  const nowMs = deps.clock();
  const manifests = new Map(listManifests(deps.runsFolder).map((manifest) => [manifest.import_id, manifest]));
  const removed: Purged[] = [];
  const kept = { running: 0, unfinished: 0 };
  for (const name of listFolders(deps.runsFolder)) {
    const found = describe(join(deps.runsFolder, name), manifests.get(name));
    if (found.state === "leftover" && !isRunId(name)) continue;
    const leastMs = found.state === "leftover" ? Math.max(request.olderThanMs, leastLeftoverMs) : request.olderThanMs;
    if (nowMs - Date.parse(found.last_used_at) < leastMs) continue;
    const isLeft = deps.leavesFinished === true && found.state === "finished";
    if (!isLeft && isHeld(found.path)) kept.running++;
    else if (found.state !== "finished" && found.state !== "leftover" && !request.unfinished) kept.unfinished++;
    else removed.push(found);
  }
  removed.push(...findLeftovers(request, deps, new Set(removed.map(({ path }) => path))));
  return { removed, removed_bytes: sumOf(removed), kept };
}

/** Finds the leftovers of killed processes outside the folders of runs. */
function findLeftovers(
  { olderThanMs }: PurgeRequest,
  deps: Omit<PurgeDeps, "approve">,
  gone: ReadonlySet<string>,
): Purged[] {
  const temporary = listTemporaryFolders(deps.temporaryFolder).filter((path) => !isHeld(path));
  const spilled = listFolders(deps.runsFolder)
    .map((name) => join(deps.runsFolder, name))
    .filter((path) => !gone.has(path) && !isHeld(path))
    .flatMap((path) => listFolders(path).map((name) => join(path, name)))
    .filter((path) => basename(path).startsWith(workFolderPrefix));
  const leastMs = Math.max(olderThanMs, leastLeftoverMs);
  return [...temporary, ...spilled]
    .map((path) => describe(path, undefined))
    .filter(({ last_used_at }) => deps.clock() - Date.parse(last_used_at) >= leastMs);
}

function describe(path: string, manifest: Manifest | undefined): Purged {
  const { bytes, lastMs } = measure(path);
  const measured = { path, bytes, last_used_at: new Date(lastMs).toISOString() };
  if (manifest) {
    const { import_id, kind, files, state } = manifest;
    const settled = state === "running" ? "interrupted" : state;
    return { import_id, kind, files: files.map(({ given }) => given), state: settled, ...measured };
  }
  const sync = readSync(path);
  if (sync) return { import_id: sync.sync_id, kind: "sync", files: sync.files, state: sync.state, ...measured };
  const isUnknown = listNames(path).includes("manifest.json");
  // An unreadable manifest, perhaps of a newer version, is not a leftover.
  return { import_id: null, kind: "", files: [], state: isUnknown ? "failed" : "leftover", ...measured };
}

interface SyncRecord {
  readonly sync_id: string;
  readonly files: readonly string[];
  readonly state: RunState;
}

function readSync(folder: string): SyncRecord | undefined {
  try {
    return JSON.parse(readFileSync(runGroupPath(folder), "utf8")) as SyncRecord;
  } catch {
    return undefined;
  }
}

/** @returns false if another process has resumed it meanwhile */
function remove({ path, state }: Purged): boolean {
  if (state === "leftover") {
    rmSync(path, { recursive: true, force: true });
    return true;
  }
  using lock = FileLock.acquire(join(path, "lock"));
  if (!lock) return false;
  rmSync(path, { recursive: true, force: true });
  return true;
}

/** The size of all files in a folder, and when one of them was last written. */
function measure(folder: string): { readonly bytes: number; readonly lastMs: number } {
  let [bytes, lastMs] = [0, 0];
  for (const name of listNames(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) continue;
    const inside = stat.isDirectory() ? measure(path) : { bytes: stat.size, lastMs: stat.mtimeMs };
    bytes += inside.bytes;
    // The lock does not count as activity: checking whether a run is in progress creates it.
    if (name !== "lock") lastMs = Math.max(lastMs, inside.lastMs);
  }
  return { bytes, lastMs: lastMs || (lstatSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) };
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function listFolders(folder: string): string[] {
  return listNames(folder).filter((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory());
}

function sumOf(purged: readonly Purged[]): number {
  return purged.reduce((sum, { bytes }) => sum + bytes, 0);
}
