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
import { defaultBusyTimeoutMs } from "../dialect.ts";
import { DatabaseDeletedError, FileIdentity } from "./file-identity.ts";
import { LoopTurn } from "./loop-turn.ts";
import { SqliteFile, type SqliteFileOptions, type SqlValue } from "./sqlite-file.ts";

/** The time between two attempts to take the write lock. */
const retryMs = 5;

/** The result code `SQLITE_BUSY`. */
const busyCode = 5;

/** Creates a Kysely dialect for a SQLite file. It uses one connection. Transactions that may write take the write lock first. */
export function createSqliteDriver(path: string, options: SqliteFileOptions = {}): Dialect {
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
  readonly #options: SqliteFileOptions;
  #connection: SqliteConnection | undefined;
  #identity: FileIdentity | undefined;
  #isWrite = false;
  #free: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  constructor(path: string, options: SqliteFileOptions) {
    this.#path = path;
    this.#options = options;
  }

  async init(): Promise<void> {
    const file = new SqliteFile(this.#path, this.#options);
    this.#connection = new SqliteConnection(file);
    if (this.#options.isReadOnly === true) return;
    this.#identity = new FileIdentity(this.#path);
    // `synchronous = full`: a reported commit survives a power failure.
    file.execute("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
    // 32,000 pages of 4 KiB, so 128 MB between checkpoints: pages that many calls write are copied only once.
    file.execute("pragma cache_size = -16384; pragma temp_store = memory; pragma wal_autocheckpoint = 32000");
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#free;
    const { promise, resolve } = createDeferred();
    this.#free = promise;
    await before;
    this.#release = resolve;
    if (!this.#connection) throw new Error("the database is closed");
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  /** `begin immediate` unless read-only: taking the write lock later fails if another process has written in between. */
  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    this.#isWrite = false;
    if (settings.accessMode === "read only") await connection.executeQuery(CompiledQuery.raw("begin"));
    else await this.#beginWrite(connection);
  }

  async #beginWrite(connection: DatabaseConnection): Promise<void> {
    await this.#connection?.beginImmediate(this.#options.busyTimeoutMs ?? defaultBusyTimeoutMs);
    this.#isWrite = true;
    if (this.#identity?.isUnchanged() !== false) return;
    await this.rollbackTransaction(connection);
    throw new DatabaseDeletedError(false);
  }

  /** Checks the files again after the commit, so that no write is reported as committed that the deleted files contain. */
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
    if (this.#isWrite && this.#identity?.isUnchanged() === false) throw new DatabaseDeletedError(true);
  }

  /** SQLite itself rolls back if the disk is full. A second error must not hide that error. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (!this.#connection?.isInTransaction) return;
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  /** False during a transaction if SQLite has rolled it back because the disk is full. */
  get isInTransaction(): boolean {
    return this.#connection?.isInTransaction ?? false;
  }

  async destroy(): Promise<void> {
    if (this.#options.isReadOnly !== true) this.#connection?.emptyLog();
    this.#connection?.close();
    this.#connection = undefined;
  }
}

function createDeferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

class SqliteConnection implements DatabaseConnection {
  readonly #file: SqliteFile;
  readonly #turn = new LoopTurn();

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    await this.#turn.interruptIfLong();
    const values = parameters as readonly SqlValue[];
    if (this.#file.isReader(sql)) return { rows: this.#file.all(sql, values) as R[] };
    const { changes, lastInsertRowid } = this.#file.run(sql, values);
    return { rows: [], numAffectedRows: changes, insertId: lastInsertRowid };
  }

  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    for (const row of this.#file.iterate(sql, parameters as readonly SqlValue[])) {
      yield { rows: [row as R] };
    }
  }

  /**
   * Takes the write lock, waiting asynchronously. SQLite's own wait blocks the process, and causes a deadlock if the
   * process has the file open twice.
   */
  async beginImmediate(timeoutMs: number): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += retryMs) {
      try {
        this.#file.beginImmediate();
        return;
      } catch (error) {
        const { errcode = 0 } = error as { errcode?: number };
        const isBusy = (errcode & 0xff) === busyCode;
        if (!isBusy || waitedMs >= timeoutMs) throw error;
      }
      await setTimeout(retryMs);
    }
  }

  get isInTransaction(): boolean {
    return this.#file.isInTransaction;
  }

  emptyLog(): void {
    this.#file.emptyLog();
  }

  close(): void {
    this.#file.close();
  }
}
