import { type ErrorKind, ServiceError } from "../../contract/index.ts";
import { toStorageError } from "../../storage/dialects.ts";
import type { StorageProblem } from "../../storage/storage-error.ts";

/** What to do about a problem. */
export const storageHints: Readonly<Record<StorageProblem, string>> = {
  busy: "try again; if this continues, find out which other process is writing to the database",
  noConnection:
    "raise the server's limits on connections, lower STARPOST_DATABASE_POOL, or use a connection pooler, then try again",
  unreachable: "check that the PostgreSQL server is running and reachable, then try again",
  unsure: "check whether the change was made before you try again",
  full: "free up disk space, then try again",
  readOnly: "make the database writable: check the file, its folder, and the file system, or the server",
  damaged: "restore the database from a backup",
  notOurs: "specify another database",
  cannotOpen: "check the path or address, and your permission to open it, or set STARPOST_HOME or STARPOST_DATABASE",
  missing: "set STARPOST_HOME, or run `starpost init`.",
  deleted: "stop all starpost processes, restore the database file from a backup, and start them again",
};

/** Problems after which clients may try again: those that resolve without intervention, or with a restart. */
const temporaryProblems: ReadonlySet<StorageProblem> = new Set(["busy", "noConnection", "unreachable", "deleted"]);

/** Problems that may be over soon, and after how long to try again, in milliseconds. */
const retryAfterMs: Partial<Record<StorageProblem, number>> = {
  busy: 1_000,
  noConnection: 1_000,
  unreachable: 1_000,
};

function kindOf(problem: StorageProblem): ErrorKind {
  if (problem === "unsure") return "timeout";
  return temporaryProblems.has(problem) ? "unavailable" : "storageFailed";
}

/** Converts storage errors to service errors. Returns all other errors unchanged. */
export function toServiceError(error: unknown, shownAs: string): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const known = toStorageError(error, shownAs);
  if (!known) return error;
  const outcomeUnknown = known.problem === "unsure";
  return new ServiceError(kindOf(known.problem), known.message, {
    hint: known.hint ?? storageHints[known.problem],
    cause: error,
    outcomeUnknown,
    retryAfterMs: retryAfterMs[known.problem],
  });
}
