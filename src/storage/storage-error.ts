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
