import { statSync } from "node:fs";

/** The files of an open database: the database, its write-ahead log, and the index of the log. */
const suffixes = ["", "-wal", "-shm"] as const;

/**
 * Detects that the files of an open database have been deleted or replaced. SQLite continues to write to the deleted
 * files, and their contents are lost when the process closes them.
 */
export class FileIdentity {
  readonly #path: string;
  readonly #known = new Map<string, string>();

  /** @param path a database that this process has just opened, or `:memory:`, which never changes */
  constructor(path: string) {
    this.#path = path;
    this.#remember("");
  }

  /**
   * Returns whether all files are still those that were first seen. The log appears with the first transaction, and its
   * name refers to the same file for as long as the database is open.
   */
  isUnchanged(): boolean {
    return suffixes.every((suffix) => {
      const known = this.#known.get(suffix);
      return known === undefined ? this.#remember(suffix) : known === this.#identify(suffix);
    });
  }

  /** @returns true, because a file that is seen for the first time is unchanged */
  #remember(suffix: string): true {
    const found = this.#identify(suffix);
    if (found !== undefined) this.#known.set(suffix, found);
    return true;
  }

  #identify(suffix: string): string | undefined {
    const found = statSync(this.#path + suffix, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev}:${found.ino}`;
  }
}

/** The files of the database have been deleted or replaced since it was opened. */
export class DatabaseDeletedError extends Error {
  override readonly name = "DatabaseDeletedError";
  readonly code: "ERR_DATABASE_DELETED" | "ERR_DATABASE_DELETED_IN_COMMIT";

  constructor(isInCommit: boolean) {
    super("the database file was deleted or replaced");
    this.code = isInCommit ? "ERR_DATABASE_DELETED_IN_COMMIT" : "ERR_DATABASE_DELETED";
  }
}
