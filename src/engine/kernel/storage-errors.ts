import { type ErrorKind, ServiceError } from "../../contract/index.ts";
import { toStorageError } from "../../storage/explain-error.ts";
import type { StorageProblem } from "../../storage/storage-error.ts";

const hints: Readonly<Record<StorageProblem, string>> = {
  busy: "try again; if it lasts, see which other process writes to the database",
  unreachable: "see that the PostgreSQL server runs and can be reached from here, then try again",
  unsure: "look whether it was done before you try again",
  full: "make room on the disk, then try again",
  readOnly: "see that the database can be written: the file, its folder and the file system, or the server",
  damaged: "restore the database from a backup",
  notOurs: "name another database",
  cannotOpen: "see that the path or address is right and that you may open it",
};

/** What passes without a person. */
const passing: ReadonlySet<StorageProblem> = new Set(["busy", "unreachable"]);

function kindOf(problem: StorageProblem): ErrorKind {
  if (problem === "unsure") return "timeout";
  return passing.has(problem) ? "unavailable" : "storageFailed";
}

/** Tells storage's own errors to the caller as refusals, and gives every other error back as it is. */
export function toServiceError(error: unknown, shownAs: string): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const known = toStorageError(error, shownAs);
  if (!known) return error;
  const outcomeUnknown = known.problem === "unsure";
  return new ServiceError(kindOf(known.problem), known.message, {
    hint: hints[known.problem],
    cause: error,
    outcomeUnknown,
  });
}
