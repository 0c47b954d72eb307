/**
 * Why the database cannot be used. `busy`, `noConnection`, `unreachable`, and `unsure` (a write may or may not have been committed) are
 * temporary; the others need a person to act. `deleted`: the files of an open database were deleted or replaced. `missing`: the
 * database does not exist, or is empty.
 */
export type StorageProblem =
  | "busy"
  | "noConnection"
  | "unreachable"
  | "unsure"
  | "full"
  | "readOnly"
  | "damaged"
  | "notOurs"
  | "cannotOpen"
  | "missing"
  | "deleted";

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

/** A problem, its description for users, and what to do, if that does not follow from the problem. */
export type StorageIssue = readonly [StorageProblem, string, hint?: (shownAs: string) => string];

export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly problem: StorageProblem;

  /** What to do, if that does not follow from the problem. */
  readonly hint: string | undefined;

  constructor(problem: StorageProblem, message: string, cause?: unknown, hint?: string) {
    super(message, { cause });
    this.problem = problem;
    this.hint = hint;
  }
}

/** The error for a database that does not exist or is empty. */
export function missingDatabase(shownAs: string): StorageError {
  return new StorageError("missing", `no database at ${shownAs}`);
}

/** The schema of the database is not one that this version can use. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
  /** What to do, if that is known. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The address of a database is not valid. The message never contains a password. */
export class AddressError extends Error {
  override readonly name = "AddressError";
}
