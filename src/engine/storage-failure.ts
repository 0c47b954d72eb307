import { type ErrorKind, ServiceError } from "../contract/index.ts";
import { asStorageError, type StorageProblem } from "../storage/database.ts";

const hints: Readonly<Record<StorageProblem, string>> = {
  busy: "try again; if it lasts, see which other process writes to the database",
  full: "make room on the disk, then try again",
  readOnly: "see that the file, its folder and the file system can be written",
  damaged: "restore the database from a backup",
  notOurs: "name another database",
  cannotOpen: "see that the path is right and that you may open it",
};

/** Tells storage's own errors to the caller as refusals, and gives every other error back as it is. */
export function asRefusal(error: unknown, shownAs: string): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const known = asStorageError(error, shownAs);
  if (!known) return error;
  const kind: ErrorKind = known.problem === "busy" ? "unavailable" : "storageFailed";
  return new ServiceError(kind, known.message, { hint: hints[known.problem], cause: error });
}
