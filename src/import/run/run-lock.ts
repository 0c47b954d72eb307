import { join } from "node:path";
import { SqliteFile } from "../../storage/sqlite/sqlite-file.ts";

/**
 * A lock on a run's folder that the operating system takes back when its holder dies, however it dies;
 * SQLite brings it on every platform.
 */
export class RunLock implements Disposable {
  readonly #file: SqliteFile;

  private constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** @returns nothing when another process holds the lock */
  static take(folder: string, waitMs: number): RunLock | undefined {
    const file = new SqliteFile(join(folder, "lock"), { busyTimeoutMs: waitMs });
    try {
      file.execute("begin exclusive");
      return new RunLock(file);
    } catch (error) {
      file.close();
      if ((error as { errcode?: number }).errcode === 5) return undefined;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
