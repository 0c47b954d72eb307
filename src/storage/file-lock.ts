import { SqliteFile } from "./sqlite/sqlite-file.ts";

/**
 * A lock that at most one process holds and none waits for; the operating system takes it back when its holder dies,
 * however it dies. SQLite brings it on every platform; nothing is written to its file.
 */
export class FileLock {
  readonly #file: SqliteFile;

  /** Makes the file (0600) and its folder (0700) where they are not there. */
  constructor(path: string) {
    this.#file = new SqliteFile(path, { busyTimeoutMs: 0 });
  }

  /** @returns whether the lock is held now; false where another has it */
  take(): boolean {
    try {
      this.#file.execute("begin exclusive");
      return true;
    } catch (error) {
      if ((error as { errcode?: number }).errcode === 5) return false;
      throw error;
    }
  }

  release(): void {
    this.#file.execute("rollback");
  }

  /** Lets go of the lock, too. */
  close(): void {
    this.#file.close();
  }
}
