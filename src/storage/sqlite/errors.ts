import type { StorageIssue } from "../storage-error.ts";

/** Source: sqlite.org/rescode.html */
const resultCodes: Readonly<Record<number, StorageIssue>> = {
  5: ["busy", "another process has locked the database"],
  6: ["busy", "another process has locked the database"],
  8: ["readOnly", "the database is read-only"],
  10: ["full", "reading or writing the database failed (is the disk full or failing?)"],
  11: ["damaged", "the database file is damaged"],
  13: ["full", "the disk is full"],
  14: ["cannotOpen", "the database file cannot be opened"],
  26: ["notOurs", "the file is not a SQLite database"],
};

const fileErrors: Readonly<Record<string, StorageIssue>> = {
  ENOSPC: ["full", "the disk is full"],
  EROFS: ["readOnly", "the database is on a read-only file system"],
  EACCES: ["cannotOpen", "permission to open the database file was denied"],
  EPERM: ["cannotOpen", "permission to open the database file was denied"],
  EISDIR: ["cannotOpen", "the path is a folder, not a database file"],
  ENOTDIR: ["cannotOpen", "a part of the path is not a folder"],
  EEXIST: ["cannotOpen", "a part of the path is not a folder"],
  ENOENT: ["cannotOpen", "the folder of the database file does not exist"],
};

/** Explains an error of SQLite or the file system. */
export function explainSqliteError(error: unknown): StorageIssue | undefined {
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (typeof errcode === "number") return resultCodes[errcode & 0xff];
  return typeof code === "string" ? fileErrors[code] : undefined;
}
