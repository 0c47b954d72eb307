import { setTimeout } from "node:timers/promises";
import type { FileLock } from "../storage/file-lock.ts";
import { failedError } from "./user-error.ts";

const pollIntervalMs = 20;

export interface WithFileLockOptions {
  /** How long to wait for the lock, in milliseconds (default: longer than writing a file takes on a busy machine). */
  readonly waitMs?: number;
  /** Whether to run without the lock if it cannot be taken (default: false). */
  readonly isOptional?: boolean;
}

/**
 * Runs `work` while holding a lock that only one process can hold.
 * @throws UserError `failed` if the lock cannot be taken
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  { waitMs = 10_000, isOptional = false }: WithFileLockOptions = {},
): Promise<T> {
  const lock = await takeLock(path, waitMs).catch((error: unknown) => {
    if (!isOptional) throw error;
  });
  try {
    return await work();
  } finally {
    lock?.close();
  }
}

/** Loads the lock on demand, because it requires the database driver, which is not needed for reading. */
async function takeLock(path: string, waitMs: number): Promise<FileLock> {
  const { FileLock } = await import("../storage/file-lock.ts");
  let lock: FileLock | undefined;
  try {
    lock = new FileLock(path);
    for (let waitedMs = 0; waitedMs <= waitMs; waitedMs += pollIntervalMs) {
      if (lock.take()) return lock;
      await setTimeout(pollIntervalMs);
    }
  } catch (error) {
    lock?.close();
    // For example, the folder is read-only, or a network drive does not support locks.
    throw failedError(
      `cannot lock ${path}: ${(error as Error).message}`,
      "Set STARPOST_HOME to a writable folder.",
      error,
    );
  }
  lock.close();
  throw failedError(`another process has locked ${path}`, "Try again later.");
}
