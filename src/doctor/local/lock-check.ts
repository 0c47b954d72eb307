import { setTimeout } from "node:timers/promises";
import { findLockHolders } from "../../storage/sqlite/lock-holders.ts";
import { type Check, ok, skipped, warning } from "../check.ts";

/** Who has a database open, and who holds its write lock. */
interface LockUsage {
  /** Programs that have the file open; undefined if the system does not provide that information. */
  readonly open: readonly string[] | undefined;
  /** The process that held the write lock throughout the observation, if any. */
  readonly writer: { readonly name: string; readonly forMs: number } | undefined;
}

/** How long a writer is observed; a normal transaction takes a fraction of this. */
const observation = { durationMs: 1_500, intervalMs: 100 } as const;

/** A lock held for longer than this delays other processes. */
const longLockMs = 1_400;

const maxProgramsShown = 5;

/** Observes who holds the write lock of a SQLite file, until the holder changes or the observation ends. */
export async function observeLock(path: string, clock: () => number): Promise<LockUsage> {
  const startedMs = clock();
  const first = await findLockHolders(path);
  const open = first?.open.map(({ name: program, pid }) => `${program} (process ${pid})`);
  const writer = first?.writer;
  if (!writer) return { open, writer: undefined };
  for (;;) {
    const forMs = clock() - startedMs;
    if (forMs >= observation.durationMs) {
      return { open, writer: { name: `${writer.name} (process ${writer.pid})`, forMs } };
    }
    await setTimeout(observation.intervalMs);
    const current = await findLockHolders(path);
    if (current?.writer?.pid !== writer.pid) return { open, writer: undefined };
  }
}

/** Checks the write lock of a PostgreSQL database. */
export function checkServerLock(writer: LockUsage["writer"]): Check {
  return writer && writer.forMs >= longLockMs
    ? checkLock({ open: undefined, writer }, false)
    : ok("database-lock", "no long-running write lock");
}

/** @param isLocked whether reading the database failed because it was locked */
export function checkLock({ open, writer }: LockUsage, isLocked: boolean): Check {
  if (writer && (isLocked || writer.forMs >= longLockMs)) {
    return warning(
      "database-lock",
      `${writer.name} has held the write lock for at least ${(writer.forMs / 1_000).toFixed(1)} s`,
      "Wait for it to finish, or end the process; its uncommitted changes are rolled back.",
    );
  }
  if (isLocked) {
    return warning(
      "database-lock",
      "another process has locked the database",
      "Find the programs that have the file open, and end the one that hangs.",
    );
  }
  if (open === undefined) return skipped("database-lock", "this system does not show who has the file open");
  if (open.length === 0) return ok("database-lock", "not open in any other process");
  const more = open.length > maxProgramsShown ? `, and ${open.length - maxProgramsShown} more` : "";
  return ok(
    "database-lock",
    `open in ${open.slice(0, maxProgramsShown).join(", ")}${more}; no long-running write lock`,
  );
}
