import { SchemaError } from "./migrations/migrate.ts";
import { readPostgresProblem } from "./postgres/errors.ts";

/**
 * Why storage cannot serve: `busy` and `unreachable` pass by themselves, and so does `unsure`, where what was written
 * may be there; the others need a person.
 */
export type StorageProblem =
  | "busy"
  | "unreachable"
  | "unsure"
  | "full"
  | "readOnly"
  | "damaged"
  | "notOurs"
  | "cannotOpen";

/** A problem, and what it is in words. */
export type KnownProblem = readonly [StorageProblem, string];

export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly problem: StorageProblem;

  constructor(problem: StorageProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}

/** SQLite's own result codes. Source: sqlite.org/rescode.html */
const sqliteProblems: Readonly<Record<number, KnownProblem>> = {
  5: ["busy", "another process holds the database locked"],
  6: ["busy", "another process holds the database locked"],
  8: ["readOnly", "the database cannot be written"],
  10: ["full", "the database could not be read or written (is the disk full or failing?)"],
  11: ["damaged", "the database file is damaged"],
  13: ["full", "the disk is full"],
  14: ["cannotOpen", "the database file cannot be opened"],
  26: ["notOurs", "the file is not a SQLite database"],
};

const fileProblems: Readonly<Record<string, KnownProblem>> = {
  ENOSPC: ["full", "the disk is full"],
  EROFS: ["readOnly", "the database is on a read-only file system"],
  EACCES: ["cannotOpen", "the database file may not be opened (permission denied)"],
  EPERM: ["cannotOpen", "the database file may not be opened (permission denied)"],
  EISDIR: ["cannotOpen", "a database file is wanted, and this is a folder"],
  ENOTDIR: ["cannotOpen", "a part of the path is not a folder"],
  EEXIST: ["cannotOpen", "a part of the path is not a folder"],
  ENOENT: ["cannotOpen", "the folder of the database file is not there"],
};

/** Says what a driver's error means, or nothing where it is none of storage's own. */
export function asStorageError(error: unknown, shownAs: string): StorageError | undefined {
  if (error instanceof StorageError) return error;
  if (error instanceof SchemaError) return new StorageError("notOurs", `${shownAs}: ${error.message}`, error);
  const known = readSqliteProblem(error) ?? readPostgresProblem(error) ?? readFileProblem(error);
  return known && new StorageError(known[0], `${shownAs}: ${known[1]}`, error);
}

function readSqliteProblem(error: unknown): KnownProblem | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? sqliteProblems[errcode & 0xff] : undefined;
}

function readFileProblem(error: unknown): KnownProblem | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? fileProblems[code] : undefined;
}
