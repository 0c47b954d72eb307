import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";

const writeToDisk = promisify(fdatasync);

/** The write-ahead log of an open database, which keeps its file for as long as the database is open. */
export class LogFile {
  readonly #path: string;
  #descriptor: number | undefined;
  #last: Promise<void> = Promise.resolve();

  /** @param path that of the database */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  /**
   * Writes all commits to the disk, in another thread. Calls run one after another, because the system reports an error to
   * only one of several. After an error, all calls fail, because SQLite ignores everything after a missing part of the log.
   * @throws LogNotWrittenError
   */
  sync(): Promise<void> {
    this.#last = this.#last.then(() => this.#write());
    return this.#last;
  }

  async #write(): Promise<void> {
    try {
      this.#descriptor ??= openSync(this.#path, "r+");
      await writeToDisk(this.#descriptor);
    } catch (error) {
      throw new LogNotWrittenError(error);
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** A commit may not survive a power failure. */
export class LogNotWrittenError extends Error {
  override readonly name = "LogNotWrittenError";
  readonly code = "ERR_LOG_NOT_WRITTEN";

  constructor(cause: unknown) {
    super("the write-ahead log could not be written to the disk", { cause });
  }
}
