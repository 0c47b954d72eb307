/**
 * Why the database cannot be used. `busy`, `unreachable`, and `unsure` (a write may or may not have been committed) are
 * temporary; the others need a person to act. `deleted`: the files of an open database were deleted or replaced.
 */
export type StorageProblem =
  | "busy"
  | "unreachable"
  | "unsure"
  | "full"
  | "readOnly"
  | "damaged"
  | "notOurs"
  | "cannotOpen"
  | "deleted";

/** A problem, and its description for users. */
export type StorageIssue = readonly [StorageProblem, string];

export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly problem: StorageProblem;

  constructor(problem: StorageProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}

/** The schema of the database is not one that this version can use. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/** The address of a database is not valid. The message never contains a password. */
export class AddressError extends Error {
  override readonly name = "AddressError";
}
