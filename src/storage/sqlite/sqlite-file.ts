import { backup, DatabaseSync } from "@photostructure/sqlite";
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { defaultBusyTimeoutMs } from "../dialect.ts";
import { readResultCode, resultCodes } from "./result-codes.ts";

/** Maximum number of cached prepared statements. The engine uses fewer. */
const maxPrepared = 200;

/** How much a copy reads without checking whether the process ends. */
const pagesPerStep = 1_000;

interface Prepared {
  readonly statement: ReturnType<Connection["prepare"]>;
  readonly isReader: boolean;
}
type Connection = InstanceType<typeof DatabaseSync>;

export type SqlValue = null | number | bigint | string | Uint8Array;

export interface SqliteFileOptions {
  /** How long a statement waits for another process's lock, in milliseconds. */
  readonly busyTimeoutMs?: number | undefined;
  /** Whether nothing is written, not even the files that a reader creates next to the database. */
  readonly isReadOnly?: boolean | undefined;
}

/**
 * Opening a file for reading creates the files of the write-ahead log if they are missing, and leaves them behind. If
 * there is no log, no process has the file open and the file is complete, so it can be opened as immutable.
 */
function toReadOnlyLocation(path: string): string | URL {
  if (existsSync(`${path}-wal`)) return path;
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

/**
 * An open SQLite file with a cache of prepared statements. No other file imports the driver, which has the interface of
 * `node:sqlite` and could be replaced by it.
 */
export class SqliteFile {
  readonly #database: Connection;
  readonly #path: string;
  readonly #busyTimeoutMs: number;
  readonly #prepared = new Map<string, Prepared>();

  /** Creates the file (mode 0600) and its folder (mode 0700) if they do not exist, unless the file is opened read-only. */
  constructor(path: string, options: SqliteFileOptions = {}) {
    const { busyTimeoutMs = defaultBusyTimeoutMs, isReadOnly = false } = options;
    this.#path = path;
    this.#busyTimeoutMs = busyTimeoutMs;
    if (isReadOnly) {
      this.#database = new DatabaseSync(toReadOnlyLocation(path), { readOnly: true, timeout: busyTimeoutMs });
      return;
    }
    if (path !== ":memory:") {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // Not opened if it exists: closing a file that this process has open would release its locks (POSIX).
      if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
      else closeSync(openSync(path, "a", 0o600));
    }
    this.#database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  }

  execute(sql: string): void {
    this.#database.exec(sql);
  }

  all(sql: string, parameters: readonly SqlValue[] = []): Record<string, unknown>[] {
    const { statement } = this.#prepare(sql);
    try {
      return statement.all(...parameters) as Record<string, unknown>[];
    } catch (error) {
      throw this.#withResultCode(error, () => statement.get(...parameters));
    }
  }

  /**
   * For statements that return all rows, the driver throws errors without the result code. Those of the first row have it, so
   * that is tried, too, and rolled back.
   */
  #withResultCode(error: unknown, getFirst: () => unknown): unknown {
    if (!(error instanceof Error) || "errcode" in error) return error;
    let errcode: number | undefined = resultCodes.busy;
    try {
      this.#database.exec("pragma busy_timeout = 0; savepoint again");
      getFirst();
    } catch (again) {
      errcode = readResultCode(again);
    }
    try {
      this.#database.exec(`pragma busy_timeout = ${this.#busyTimeoutMs}; rollback to again; release again`);
    } catch {
      // The failure has rolled back the transaction.
    }
    return Object.assign(error, { errcode });
  }

  iterate(sql: string, parameters: readonly SqlValue[] = []): IterableIterator<Record<string, unknown>> {
    return this.#prepare(sql).statement.iterate(...parameters) as IterableIterator<Record<string, unknown>>;
  }

  run(sql: string, parameters: readonly SqlValue[] = []): { changes: bigint; lastInsertRowid: bigint } {
    const { changes, lastInsertRowid } = this.#prepare(sql).statement.run(...parameters);
    return { changes: BigInt(changes), lastInsertRowid: BigInt(lastInsertRowid) };
  }

  /** Whether the statement returns rows. */
  isReader(sql: string): boolean {
    return this.#prepare(sql).isReader;
  }

  /** Executes statements that take a lock. Fails immediately if another process holds it. */
  executeNow(sql: string): void {
    this.#database.exec("pragma busy_timeout = 0");
    try {
      this.#database.exec(sql);
    } finally {
      this.#database.exec(`pragma busy_timeout = ${this.#busyTimeoutMs}`);
    }
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /**
   * Copies the write-ahead log to the file and truncates it, unless another process uses the file. Otherwise, the next
   * process to open the file would have to read the complete log. Closing the file does not do this, because the driver
   * keeps the prepared statements.
   */
  emptyLog(): void {
    const log = statSync(`${this.#path}-wal`, { throwIfNoEntry: false });
    if (!log || log.size === 0 || this.isInTransaction) return;
    try {
      this.#database.exec("pragma busy_timeout = 0; pragma wal_checkpoint(truncate)");
    } catch {
      // The data is safe in the log, too. A full disk must not fail work that is done.
    }
  }

  /**
   * Copies the database page by page, in another thread. The transaction keeps the copy consistent: without it, the copy
   * would start again after each write of another process.
   */
  async copyTo(path: string): Promise<void> {
    this.#database.exec("begin; select 1 from sqlite_master limit 1");
    try {
      await backup(this.#database, path, { rate: pagesPerStep });
    } finally {
      this.#database.exec("rollback");
    }
  }

  /** May be called several times: a signal may end work that is already closing its files. */
  close(): void {
    this.#prepared.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string): Prepared {
    const cached = this.#prepared.get(sql);
    if (cached) return cached;
    if (this.#prepared.size >= maxPrepared) this.#prepared.clear();
    const statement = this.#database.prepare(sql);
    // Cached, because describing the columns takes longer than reading a row.
    const prepared = { statement, isReader: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}
