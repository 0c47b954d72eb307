import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type TransactionSettings,
} from "kysely";
import { StorageError } from "./storage-error.ts";

/** A driver that can tell whether its connection is in a transaction, where the database may end one by itself. */
interface RehearsableDriver extends Driver {
  readonly isInTransaction?: boolean;
}

/**
 * A dialect of which all work runs inside one transaction that is never committed. What a call writes, later calls
 * read; what a failed one wrote is taken back by itself; when the database is closed, or the process dies, all of it
 * is gone. Until then nobody else can write.
 */
export function rehearse<D extends Dialect>(dialect: D): D {
  return { ...dialect, createDriver: () => new RehearsalDriver(dialect.createDriver()) };
}

class RehearsalDriver implements Driver {
  readonly #inner: RehearsableDriver;
  /** As the database's own driver gave it. */
  #connection: DatabaseConnection | undefined;
  #free: Promise<void> = Promise.resolve();
  #release: () => void = () => {};
  #isClosed = false;

  constructor(inner: RehearsableDriver) {
    this.#inner = inner;
  }

  init(): Promise<void> {
    return this.#inner.init();
  }

  /** One after another: there is one transaction, and a savepoint in it has no neighbours. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const release = await this.#takeTurn();
    try {
      if (this.#isClosed) throw new Error("the rehearsal is closed");
      this.#connection ??= await this.#begin();
      this.#release = release;
      return this.#guard(this.#connection);
    } catch (error) {
      release();
      throw error;
    }
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async beginTransaction(connection: DatabaseConnection, _settings: TransactionSettings): Promise<void> {
    await connection.executeQuery(savepoint.begin);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(savepoint.release);
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#inner.isInTransaction === false) return;
    await connection.executeQuery(savepoint.rollback);
    await connection.executeQuery(savepoint.release);
  }

  /** A call that is under way ends first: what it did after the end of the transaction would stay. */
  async destroy(): Promise<void> {
    this.#isClosed = true;
    await this.#takeTurn();
    try {
      if (this.#connection) await this.#inner.rollbackTransaction(this.#connection);
    } finally {
      if (this.#connection) await this.#inner.releaseConnection(this.#connection);
      this.#connection = undefined;
      await this.#inner.destroy();
    }
  }

  /** Outside of the transaction a write would stay, and so would what follows a savepoint: its end would be a commit. */
  #guard(connection: DatabaseConnection): DatabaseConnection {
    const check = () => {
      if (this.#inner.isInTransaction !== false) return;
      throw new StorageError("full", "the database took the rehearsal back by itself (is the disk full?)");
    };
    return {
      executeQuery: async (query) => {
        check();
        return connection.executeQuery(query);
      },
      async *streamQuery(query, chunkSize) {
        check();
        yield* connection.streamQuery(query, chunkSize);
      },
    };
  }

  async #begin(): Promise<DatabaseConnection> {
    const connection = await this.#inner.acquireConnection();
    try {
      await this.#inner.beginTransaction(connection, {});
      return connection;
    } catch (error) {
      await this.#inner.releaseConnection(connection);
      throw error;
    }
  }

  async #takeTurn(): Promise<() => void> {
    const before = this.#free;
    let release = () => {};
    this.#free = new Promise<void>((resolve) => {
      release = resolve;
    });
    await before;
    return release;
  }
}

const savepoint = {
  begin: CompiledQuery.raw("savepoint rehearsed_call"),
  release: CompiledQuery.raw("release savepoint rehearsed_call"),
  rollback: CompiledQuery.raw("rollback to savepoint rehearsed_call"),
} as const;
