import { setTimeout as wait } from "node:timers/promises";
import type { FileLock } from "../storage/file-lock.ts";
import { UserError } from "./user-error.ts";

const lookEveryMs = 20;

/** How a file's guard is waited for. */
export interface GuardOptions {
  /** Milliseconds. */
  readonly waitMs: number;
  /** Whether the work is done without the guard where it cannot be had. */
  readonly isOptional?: boolean;
}

/**
 * Does what no two processes may do at once. Who dies lets go of the guard.
 * @throws UserError `failed` where another process holds it for too long
 */
export async function withFileGuard<T>(
  path: string,
  work: () => Promise<T>,
  { waitMs, isOptional = false }: GuardOptions,
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

/** Loaded late: it brings the database's driver, which who only reads does not need. */
async function takeLock(path: string, waitMs: number): Promise<FileLock> {
  const { FileLock } = await import("../storage/file-lock.ts");
  let lock: FileLock | undefined;
  try {
    lock = new FileLock(path);
    for (let waitedMs = 0; waitedMs <= waitMs; waitedMs += lookEveryMs) {
      if (lock.take()) return lock;
      await wait(lookEveryMs);
    }
  } catch (error) {
    lock?.close();
    throw unusable(path, error);
  }
  lock.close();
  throw new UserError("failed", `${path} is held by another process`, "Try again in a while.");
}

/** A folder may be read-only, and some network drives know no locks. */
function unusable(path: string, error: unknown): UserError {
  return new UserError(
    "failed",
    `${path} cannot be locked: ${(error as Error).message}`,
    "Set STARPOST_HOME to a folder that can be written.",
    error,
  );
}
