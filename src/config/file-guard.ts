import { setTimeout as wait } from "node:timers/promises";
import { Problem } from "./problem.ts";

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
 * @throws Problem `failed` where another process holds it for too long
 */
export async function withFileGuard<T>(
  path: string,
  work: () => Promise<T>,
  { waitMs, isOptional = false }: GuardOptions,
): Promise<T> {
  const lock = await openLock(path, isOptional);
  if (!lock) return work();
  try {
    let isHeld = lock.take();
    for (let waitedMs = 0; !isHeld && waitedMs < waitMs; waitedMs += lookEveryMs) {
      await wait(lookEveryMs);
      isHeld = lock.take();
    }
    if (!isHeld && !isOptional) {
      throw new Problem("failed", `${path} is held by another process`, "Try again in a while.");
    }
    return await work();
  } finally {
    lock.close();
  }
}

/** Loaded late: it brings the database's driver, which who only reads does not need. */
async function openLock(path: string, isOptional: boolean) {
  const { FileLock } = await import("../storage/file-lock.ts");
  try {
    return new FileLock(path);
  } catch (error) {
    if (isOptional) return undefined;
    throw new Problem(
      "failed",
      `${path} cannot be written: ${(error as Error).message}`,
      "Set STARPOST_HOME to a folder that can be written.",
      error,
    );
  }
}
