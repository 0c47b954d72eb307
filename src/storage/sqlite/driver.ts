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
import { DatabaseDeletedError, FileIdentity } from "./file-identity.ts";
import { LogFile } from "./log-file.ts";
import { LoopTurn } from "./loop-turn.ts";
import { readResultCode, resultCodes } from "./result-codes.ts";
import { SqliteFile, type SqlValue } from "./sqlite-file.ts";

/** The time between two attempts to take the write lock. */
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
  readonly #turn = new LoopTurn();
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
    file.execute(`pragma journal_mode = wal; pragma synchronous = ${synchronous}; pragma foreign_keys = on`);
    // 32,000 pages of 4 KiB, so 128 MB between checkpoints: pages that many calls write are copied only once.
    file.execute("pragma cache_size = -16384; pragma temp_store = memory; pragma wal_autocheckpoint = 32000");
  }

  async acquireConnection(): Promise<SqliteConnection> {
    const before = this.#free;
    const { promise, resolve } = createDeferred();
    this.#free = promise;
    await before;
    if (this.#file) return new SqliteConnection(this.#file, this.#turn, resolve);
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
    await connection.beginImmediate(this.#options.busyTimeoutMs ?? defaultBusyTimeoutMs);
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
  readonly #turn: LoopTurn;
  readonly #onRelease: () => void;
  isReleased = false;

  constructor(file: SqliteFile, turn: LoopTurn, onRelease: () => void) {
    this.#file = file;
    this.#turn = turn;
    this.#onRelease = onRelease;
  }

  /** May be called several times. */
  release(): void {
    this.isReleased = true;
    this.#onRelease();
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    await this.#turn.interruptIfLong();
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
        if (readResultCode(error) !== resultCodes.busy || waitedMs >= timeoutMs) throw error;
      }
      await setTimeout(retryMs);
    }
  }
}
