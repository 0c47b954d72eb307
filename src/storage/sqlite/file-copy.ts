import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { findLockHolders } from "./lock-holders.ts";
import { readResultCode, resultCodes } from "./result-codes.ts";
import { SqliteFile } from "./sqlite-file.ts";

/** The files next to a database that belong to it. */
const logSuffixes = ["-wal", "-shm", "-journal"] as const;

/**
 * Copies a database that other processes may be writing to. The copy is the state at one commit.
 * @param target must not exist; only its owner can read it
 * @throws an error with the code `ENOSPC` if there is no room for the copy
 */
export async function copyDatabaseFile(path: string, target: string): Promise<void> {
  closeSync(openSync(target, "wx", 0o600));
  const source = openSource(path);
  try {
    await source.copyTo(target).catch((error: Error) => {
      throw readResultCode(error) === resultCodes.full ? Object.assign(error, { code: "ENOSPC" }) : error;
    });
  } finally {
    source.close();
  }
}

/** A file that is opened as immutable must not change, so that is done only if this process cannot open it otherwise. */
function openSource(path: string): SqliteFile {
  statSync(path);
  try {
    const file = new SqliteFile(path);
    file.all("select 1 from sqlite_master limit 1");
    return file;
  } catch (error) {
    const result = readResultCode(error);
    const isRefused = ["EACCES", "EPERM", "EROFS"].includes((error as { readonly code?: string }).code ?? "");
    if (!isRefused && result !== resultCodes.readOnly && result !== resultCodes.cannotOpen) throw error;
    return new SqliteFile(path, { isReadOnly: true });
  }
}

/** A database file that this process has locked, so that it can be replaced. */
export interface LockedFile {
  /**
   * Puts a complete database file in its place. There is a database at every moment.
   * @param replacement a file in the same folder
   * @param keptAs the path at which the replaced database is kept
   */
  replaceBy(replacement: string, keptAs: string): void;
  close(): void;
}

/**
 * Locks a database file against all other processes, even those that only have it open.
 * @returns undefined if another process uses it
 */
export async function lockDatabaseFile(path: string): Promise<LockedFile | undefined> {
  const file = new SqliteFile(path, { busyTimeoutMs: 1_000 });
  try {
    // Copies the log to the file. Fails if another process has the file open.
    file.execute("pragma locking_mode = exclusive; pragma journal_mode = delete; begin exclusive");
  } catch (error) {
    file.close();
    const result = readResultCode(error);
    if (result === resultCodes.busy) return undefined;
    if (result !== resultCodes.damaged && result !== resultCodes.notADatabase) throw error;
    // A damaged database cannot be locked, but may be replaced.
    const holders = await findLockHolders(path);
    if (holders && holders.open.length > 0) return undefined;
    return { replaceBy: (replacement, keptAs) => replaceFile(path, replacement, keptAs), close: () => {} };
  }
  let kept: string | undefined;
  return {
    replaceBy: (replacement, keptAs) => replaceFile(path, replacement, (kept = keptAs)),
    close: () => {
      file.close();
      // The journal of the completed change of the journal mode, which stays while the file is locked.
      if (kept !== undefined) rmSync(`${kept}-journal`, { force: true });
    },
  };
}

/** Puts a database file in its place, unless one exists. */
export function placeFile(replacement: string, path: string): void {
  setAsideLogs(path, undefined);
  syncPath(replacement);
  // Fails if another process has created the database in the meantime.
  linkSync(replacement, path);
  rmSync(replacement);
  syncPath(dirname(path));
}

function replaceFile(path: string, replacement: string, keptAs: string): void {
  syncPath(replacement);
  linkSync(path, keptAs);
  // A log that remained would be applied to the new file.
  setAsideLogs(path, keptAs);
  renameSync(replacement, path);
  syncPath(dirname(path));
}

function setAsideLogs(path: string, keptAs: string | undefined): void {
  for (const suffix of logSuffixes) {
    const log = path + suffix;
    if (!statSync(log, { throwIfNoEntry: false })) continue;
    // The index of a log is created again.
    if (keptAs === undefined || suffix === "-shm") rmSync(log);
    else renameSync(log, keptAs + suffix);
  }
}

/** Deletes a database file and the files next to it. */
export function deleteDatabaseFile(path: string): void {
  for (const suffix of ["", ...logSuffixes]) rmSync(path + suffix, { force: true });
}

function syncPath(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Reads every page of a SQLite file.
 * @returns the first three errors found
 */
export function checkIntegrity(path: string): string[] {
  const file = new SqliteFile(path, { isReadOnly: true, busyTimeoutMs: 0 });
  try {
    const messages = file.all("pragma quick_check(3)").map(({ quick_check }) => String(quick_check));
    return messages.length === 1 && messages[0] === "ok" ? [] : messages;
  } finally {
    file.close();
  }
}
