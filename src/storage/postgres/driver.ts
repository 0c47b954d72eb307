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
import { PipelinedConnection } from "./pipelined-connection.ts";
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

type InnerConnection = Parameters<PostgresDriver["releaseConnection"]>[0];

const beginReading = CompiledQuery.raw("start transaction isolation level repeatable read read only");

class LockingDriver extends PostgresDriver {
  readonly #begin: CompiledQuery;
  readonly #inner = new WeakMap<DatabaseConnection, InnerConnection>();

  constructor(url: string, { busyTimeoutMs = defaultBusyTimeoutMs }: DriverOptions) {
    super({ pool: async () => createPool(url) });
    // In one round trip. Set in each transaction, because connection poolers do not support session settings.
    this.#begin = CompiledQuery.raw(
      `begin; set local lock_timeout = ${busyTimeoutMs};
       set local idle_in_transaction_session_timeout = ${idleTimeoutMs};
       select pg_advisory_xact_lock(${writeLock})`,
    );
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = (await super.acquireConnection()) as InnerConnection;
    const pipelined = new PipelinedConnection(connection);
    this.#inner.set(pipelined, connection);
    return pipelined;
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const inner = this.#inner.get(connection);
    if (inner) await super.releaseConnection(inner);
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    if (!(connection instanceof PipelinedConnection)) throw new TypeError("not a connection of this driver");
    connection.begin(settings.accessMode === "read only" ? beginReading : this.#begin);
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PipelinedConnection) await connection.commit();
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PipelinedConnection) await connection.rollback();
  }
}
