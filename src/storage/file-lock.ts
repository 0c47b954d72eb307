import { readResultCode, resultCodes } from "./sqlite/result-codes.ts";
import { SqliteFile } from "./sqlite/sqlite-file.ts";

export interface FileLockOptions {
  /** How long `take` blocks the thread while another process holds the lock, in milliseconds (default: 0). */
  readonly waitMs?: number;
}

/**
 * A lock that at most one process holds. The operating system releases it when the holder exits or crashes. Implemented
 * as an exclusive lock on an empty SQLite file, which works on every platform.
 */
export class FileLock implements Disposable {
  readonly #file: SqliteFile;

  /** Creates the file (mode 0600) and its folder (mode 0700) if they do not exist. */
  constructor(path: string, { waitMs = 0 }: FileLockOptions = {}) {
    this.#file = new SqliteFile(path, { busyTimeoutMs: waitMs });
  }

  /** Opens and takes a lock, or returns undefined if another process holds it. */
  static acquire(path: string, options?: FileLockOptions): FileLock | undefined {
    const lock = new FileLock(path, options);
    try {
      if (lock.take()) return lock;
    } catch (error) {
      lock.close();
      throw error;
    }
    lock.close();
    return undefined;
  }

  /** Returns whether the lock was taken; false if another process holds it. */
  take(): boolean {
    try {
      this.#file.execute("begin exclusive");
      return true;
    } catch (error) {
      if (readResultCode(error) === resultCodes.busy) return false;
      throw error;
    }
  }

  release(): void {
    this.#file.execute("rollback");
  }

  /** Also releases the lock. */
  close(): void {
    this.#file.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
