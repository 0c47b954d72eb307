import { type ErrorKind, ServiceError } from "../../contract/index.ts";
import { toStorageError } from "../../storage/dialects.ts";
import { storageHints, type StorageProblem } from "../../storage/storage-error.ts";

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
