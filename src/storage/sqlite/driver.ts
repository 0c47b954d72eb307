import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from "kysely";
import { setTimeout } from "node:timers/promises";
import { defaultBusyTimeoutMs, type DriverOptions } from "../dialect.ts";
import { letOthersRun } from "../loop-turn.ts";
import { LogFile } from "./log-file.ts";
import { readResultCode, resultCodes } from "./result-codes.ts";
import { SqliteFile, type SqlValue } from "./sqlite-file.ts";
import { statSync } from "node:fs";

/** The time between two attempts to take a lock. */
const retryMs = 5;

/** Creates a Kysely dialect for a SQLite file. It uses one connection. Transactions that may write take the write lock first. */
export function createSqliteDriver(path: string, options: DriverOptions = {}): Dialect {
  const driver = new SqliteDriver(path, options);
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class SqliteDriver implements Driver {
  readonly #path: string;
  readonly #options: DriverOptions;
  #file: SqliteFile | undefined;
  #log: LogFile | undefined;
  #identity: FileIdentity | undefined;
  #isWrite = false;
  #free: Promise<void> = Promise.resolve();

  constructor(path: string, options: DriverOptions) {
    this.#path = path;
    this.#options = options;
  }

  async init(): Promise<void> {
    const file = new SqliteFile(this.#path, this.#options);
    this.#file = file;
    if (this.#options.isReadOnly === true) return;
    this.#identity = new FileIdentity(this.#path);
    if (this.#options.isBulk === true) this.#log = new LogFile(this.#path);
    // `synchronous = full`: a reported commit survives a power failure. With `normal`, the driver itself writes the log to the disk.
    const synchronous = this.#log ? "normal" : "full";
    // Of a new file. SQLite itself does not wait while another process does the same.
    await takeLock(file, "pragma journal_mode = wal", this.#options);
    file.execute(`pragma synchronous = ${synchronous}; pragma foreign_keys = on`);
    // Pages of 4 KiB between checkpoints: 128 MB of a bulk operation, so that pages that many calls write are copied only once;
    // otherwise 16 MB, because other calls wait while they are copied.
    const pages = this.#options.isBulk === true ? 32_000 : 4_000;
    file.execute(`pragma cache_size = -16384; pragma temp_store = memory; pragma wal_autocheckpoint = ${pages}`);
  }

  async acquireConnection(): Promise<SqliteConnection> {
    const before = this.#free;
    const { promise, resolve } = createDeferred();
    this.#free = promise;
    await before;
    if (this.#file) return new SqliteConnection(this.#file, resolve);
    resolve();
    throw new Error("the database is closed");
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    connection.release();
  }

  /** `begin immediate` unless read-only: taking the write lock later fails if another process has written in between. */
  async beginTransaction(connection: SqliteConnection, settings: TransactionSettings): Promise<void> {
    this.#isWrite = false;
    if (settings.accessMode === "read only") await connection.executeQuery(CompiledQuery.raw("begin"));
    else await this.#beginWrite(connection);
  }

  async #beginWrite(connection: SqliteConnection): Promise<void> {
    await connection.beginImmediate(this.#options);
    this.#isWrite = true;
    if (this.#identity?.isUnchanged() !== false) return;
    await this.rollbackTransaction(connection);
    throw new DatabaseDeletedError(false);
  }

  /** Checks the files again after the commit, so that no write is reported as committed that the deleted files contain. */
  async commitTransaction(connection: SqliteConnection): Promise<void> {
    const isWrite = this.#isWrite;
    await connection.executeQuery(CompiledQuery.raw("commit"));
    if (!isWrite) return;
    if (this.#identity?.isUnchanged() === false) throw new DatabaseDeletedError(true);
    if (!this.#log) return;
    // The next transaction runs while the disk writes.
    connection.release();
    await this.#log.sync();
  }

  /**
   * SQLite itself rolls back if the disk is full. A second error must not hide that error. After a commit, another
   * transaction may be active.
   */
  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    if (connection.isReleased || !this.isInTransaction) return;
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  /** False during a transaction if SQLite has rolled it back because the disk is full. */
  get isInTransaction(): boolean {
    return this.#file?.isInTransaction ?? false;
  }

  async destroy(): Promise<void> {
    if (this.#options.isReadOnly !== true) this.#file?.emptyLog();
    this.#file?.close();
    this.#file = undefined;
    this.#log?.close();
  }
}

function createDeferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The file, until it is released to the next user. */
class SqliteConnection implements DatabaseConnection {
  readonly #file: SqliteFile;
  readonly #onRelease: () => void;
  isReleased = false;

  constructor(file: SqliteFile, onRelease: () => void) {
    this.#file = file;
    this.#onRelease = onRelease;
  }

  /** May be called several times. */
  release(): void {
    this.isReleased = true;
    this.#onRelease();
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    // SQLite runs statements in the thread of the event loop.
    await letOthersRun();
    const values = parameters as readonly SqlValue[];
    try {
      if (this.#file.isReader(sql)) return { rows: this.#file.all(sql, values) as R[] };
      const { changes, lastInsertRowid } = this.#file.run(sql, values);
      return { rows: [], numAffectedRows: changes, insertId: lastInsertRowid };
    } catch (error) {
      // Otherwise, an error of this kind is a mistake in the statement.
      const mayMissTable = readResultCode(error) === resultCodes.error && error instanceof Error;
      throw mayMissTable && (await this.#missesTable()) ? Object.assign(error, { code: "ERR_TABLE_MISSING" }) : error;
    }
  }

  async #missesTable(): Promise<boolean> {
    const { tables } = await import("../tables.ts");
    const names = new Set(this.#file.all("select name from sqlite_master").map(({ name }) => name));
    return Object.keys(tables).some((name) => !names.has(name));
  }

  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    for (const row of this.#file.iterate(sql, parameters as readonly SqlValue[])) {
      yield { rows: [row as R] };
    }
  }

  beginImmediate(options: DriverOptions): Promise<void> {
    return takeLock(this.#file, "begin immediate", options);
  }
}

/**
 * Executes a statement that takes a lock, waiting asynchronously. SQLite's own wait blocks the process, and causes a
 * deadlock if the process has the file open twice.
 */
async function takeLock(
  file: SqliteFile,
  sql: string,
  { busyTimeoutMs = defaultBusyTimeoutMs }: DriverOptions,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += retryMs) {
    try {
      file.executeNow(sql);
      return;
    } catch (error) {
      if (readResultCode(error) !== resultCodes.busy || waitedMs >= busyTimeoutMs) throw error;
    }
    await setTimeout(retryMs);
  }
}

/** The files of an open database: the database, its write-ahead log, and the index of the log. */
const suffixes = ["", "-wal", "-shm"] as const;

/**
 * Detects that the files of an open database have been deleted or replaced. SQLite continues to write to the deleted
 * files, and their contents are lost when the process closes them.
 */
class FileIdentity {
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
