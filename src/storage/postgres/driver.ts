import {
  CompiledQuery,
  type DatabaseConnection,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from "kysely";
import { Pool, TypeOverrides, types } from "pg";
import { defaultBusyTimeoutMs, type DriverOptions, type StorageDriver } from "../dialect.ts";
import { CommitLostError, explainPostgresError } from "./errors.ts";
import { writeLock } from "./write-lock.ts";

/** Connections that one process holds at most: one writes, the others read. */
const maxConnections = 10;

/** How long a connection is waited for, milliseconds. */
const connectTimeoutMs = 10_000;

/** After how long without a word the network is asked whether the server is still there, milliseconds. */
const keepAliveMs = 10_000;

/** How long the server lets a transaction stand still before it takes it back, milliseconds: its process is gone. */
const standstillMs = 60_000;

/**
 * Kysely over a PostgreSQL database. A transaction that may write waits for the one write lock of the database at its
 * beginning, so that, as on SQLite, nothing that it has read is changed by another before it ends; one that only
 * reads sees one state of the database.
 */
export function createPostgresDriver(url: string, options: DriverOptions = {}): StorageDriver {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new LockingDriver(url, options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** Whole numbers are numbers: none that the engine stores is beyond 2^53. */
function createTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, Number);
  overrides.setTypeParser(types.builtins.NUMERIC, Number);
  return overrides;
}

function createPool(url: string): Pool {
  const pool = new Pool({
    connectionString: url,
    application_name: "starpost",
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    types: createTypes(),
  });
  // A connection that is lost says so to whoever uses it, and once more here, where nobody may listen.
  const ignore = () => {};
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
}

class LockingDriver extends PostgresDriver {
  readonly #begin: CompiledQuery;

  constructor(url: string, { busyTimeoutMs = defaultBusyTimeoutMs }: DriverOptions) {
    super({ pool: async () => createPool(url) });
    // One round trip; said in each transaction, since poolers in between refuse them as a connection's settings.
    this.#begin = CompiledQuery.raw(
      `begin; set local lock_timeout = ${busyTimeoutMs};
       set local idle_in_transaction_session_timeout = ${standstillMs};
       select pg_advisory_xact_lock(${writeLock})`,
    );
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    if (settings.accessMode === "read only") {
      return super.beginTransaction(connection, { ...settings, isolationLevel: "repeatable read" });
    }
    try {
      await connection.executeQuery(this.#begin);
    } catch (error) {
      await this.rollbackTransaction(connection);
      throw error;
    }
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.commitTransaction(connection);
    } catch (error) {
      if (explainPostgresError(error)?.[0] !== "unreachable") throw error;
      const message = "the connection to the server was lost at a commit, which it may have done or not";
      throw new CommitLostError(message, { cause: error });
    }
  }

  /** A connection that was lost has nothing to take back, and what lost it must not be hidden by a second error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {});
  }
}
