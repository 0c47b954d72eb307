import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver, type TransactionSettings } from "kysely";
import { StorageError } from "./storage-error.ts";

/** A driver that reports whether a transaction is active, if the database itself may roll one back. */
interface RehearsableDriver extends Driver {
  readonly isInTransaction?: boolean;
}

/**
 * Wraps a dialect so that everything runs in one transaction that is never committed. Later calls see what earlier calls
 * wrote, and a failed call is rolled back to a savepoint. When the database is closed or the process dies, all changes
 * are rolled back. Until then, no other process can write.
 */
export function rehearse<D extends Dialect>(dialect: D): D {
  return { ...dialect, createDriver: () => new RehearsalDriver(dialect.createDriver()) };
}

class RehearsalDriver implements Driver {
  readonly #inner: RehearsableDriver;
  /** The connection of the wrapped driver. */
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

  /** Serializes all calls, because savepoints of one transaction cannot overlap. */
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

  /** Waits for the call in flight: changes that it made after the rollback would be permanent. */
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

  /** Refuses queries after the database itself has rolled back the transaction, because they would be permanent. */
  #guard(connection: DatabaseConnection): DatabaseConnection {
    const check = () => {
      if (this.#inner.isInTransaction !== false) return;
      throw new StorageError("full", "the database rolled back the rehearsal (is the disk full?)");
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
    } catch (error) {
      await this.#inner.releaseConnection(connection);
      throw error;
    }
    try {
      // A server may report only now that it could not begin.
      await connection.executeQuery(CompiledQuery.raw("select 1"));
      return connection;
    } catch (error) {
      await this.#inner.rollbackTransaction(connection);
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
