import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";

const writeToDisk = promisify(fdatasync);

/** The write-ahead log of an open database, which keeps its file for as long as the database is open. */
export class LogFile {
  readonly #path: string;
  #descriptor: number | undefined;

  /** @param path that of the database */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  /**
   * Writes what has been committed to the disk, in another thread.
   * @throws LogNotWrittenError
   */
  async sync(): Promise<void> {
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
