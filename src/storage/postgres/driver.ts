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

/** Maximum number of connections per process: one writes, the others read. */
const maxConnections = 10;

/** How long to wait for a connection, in milliseconds. */
const connectTimeoutMs = 10_000;

/** Idle time before TCP keep-alive probes are sent, in milliseconds. */
const keepAliveMs = 10_000;

/** How long a transaction may be idle before the server rolls it back, in milliseconds. */
const idleTimeoutMs = 60_000;

/**
 * Creates a Kysely dialect for a PostgreSQL database. As on SQLite, a transaction that may write first takes the write
 * lock of the database, so that nothing it reads changes until it ends. A read-only transaction uses a snapshot.
 */
export function createPostgresDriver(url: string, options: DriverOptions = {}): StorageDriver {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new LockingDriver(url, options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** Parses integers as numbers. The engine stores none above 2^53. */
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
    // Sends statements without waiting for the responses to earlier ones.
    pipeline: true,
  });
  // Lost connections are reported by queries. Without these listeners, they would also crash the process.
  const ignore = () => {};
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
}

class LockingDriver extends PostgresDriver {
  readonly #begin: CompiledQuery;

  constructor(url: string, { busyTimeoutMs = defaultBusyTimeoutMs }: DriverOptions) {
    super({ pool: async () => createPool(url) });
    // In one round trip. Set in each transaction, because connection poolers do not support session settings.
    this.#begin = CompiledQuery.raw(
      `begin; set local lock_timeout = ${busyTimeoutMs};
       set local idle_in_transaction_session_timeout = ${idleTimeoutMs};
       select pg_advisory_xact_lock(${writeLock})`,
    );
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
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
      const message =
        "the connection to the server was lost during a commit; the changes may or may not have been saved";
      throw new CommitLostError(message, { cause: error });
    }
  }

  /** After a lost connection, there is nothing to roll back, and a second error must not hide the first. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {});
  }
}
