import { Kysely } from "kysely";
import { fileURLToPath } from "node:url";
import type { DialectName } from "./dialect.ts";
import { migrate, SchemaError } from "./migrations.ts";
import { createSqliteDialect } from "./sqlite-dialect.ts";
import type { Tables } from "./tables.ts";

/** An open database and the dialect that it speaks. */
export interface Database {
  readonly db: Kysely<Tables>;
  readonly dialect: DialectName;
  /** What a person is told it is: a path, or an address without its password. */
  readonly shownAs: string;
}

/** Why storage cannot serve: `busy` passes by itself, the others need a person. */
export type StorageProblem = "busy" | "full" | "readOnly" | "damaged" | "notOurs" | "cannotOpen";

export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly problem: StorageProblem;

  constructor(problem: StorageProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}

/**
 * Opens a database from a path or a `sqlite:` URL and brings its schema up to date.
 * @throws StorageError
 */
export async function openDatabase(
  url: string,
  options: { readonly nowMs: number; readonly busyTimeoutMs?: number },
): Promise<Database> {
  const path = readSqlitePath(url);
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(path, options) });
  try {
    await migrate(db as unknown as Kysely<never>, "sqlite", options.nowMs);
  } catch (error) {
    await db.destroy().catch(() => {});
    throw asStorageError(error, path) ?? error;
  }
  return { db, dialect: "sqlite", shownAs: path };
}

function readSqlitePath(url: string): string {
  if (url.startsWith("sqlite://")) return fileURLToPath(url.replace(/^sqlite:/, "file:"));
  if (url.startsWith("sqlite:")) return url.slice("sqlite:".length);
  if (/^[a-z][a-z0-9+.-]+:/i.test(url) && !/^[a-z]:[\\/]/i.test(url)) {
    throw new StorageError(
      "cannotOpen",
      `${url.split(":")[0]}: is not a database that this version can open`,
    );
  }
  return url;
}

/** SQLite's own result codes. Source: sqlite.org/rescode.html */
const sqliteProblems: Readonly<Record<number, readonly [StorageProblem, string]>> = {
  5: ["busy", "another process holds the database locked"],
  6: ["busy", "another process holds the database locked"],
  8: ["readOnly", "the database cannot be written"],
  10: ["full", "the database could not be read or written (is the disk full or failing?)"],
  11: ["damaged", "the database file is damaged"],
  13: ["full", "the disk is full"],
  14: ["cannotOpen", "the database file cannot be opened"],
  26: ["notOurs", "the file is not a SQLite database"],
};

const systemProblems: Readonly<Record<string, readonly [StorageProblem, string]>> = {
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
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  const known =
    typeof errcode === "number"
      ? sqliteProblems[errcode & 0xff]
      : typeof code === "string"
        ? systemProblems[code]
        : undefined;
  return known && new StorageError(known[0], `${shownAs}: ${known[1]}`, error);
}
