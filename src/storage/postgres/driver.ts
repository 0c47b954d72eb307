import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from "kysely";
import { type PoolClient, TypeOverrides, types } from "pg";
import { defaultBusyTimeoutMs, defaultPoolSize, defaultPoolWaitMs, type DriverOptions } from "../dialect.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { PipelinedConnection } from "./pipelined-connection.ts";
import { ServerConnection } from "./server-connection.ts";

/**
 * How long a transaction may be idle before the server rolls it back, in milliseconds, because its process hangs. Others wait
 * longer for its locks.
 */
const defaultIdleTimeoutMs = 8_000;

/** Creates a Kysely dialect for a PostgreSQL database. A read-only transaction uses a snapshot. */
export function createPostgresDriver(url: string, options: DriverOptions = {}): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PipelinedDriver(url, options),
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

const begin = CompiledQuery.raw("begin");
const beginReading = CompiledQuery.raw("start transaction isolation level repeatable read read only");

class PipelinedDriver implements Driver {
  readonly #open: () => ConnectionPool;
  #pool: ConnectionPool | undefined;
  readonly #servers = new WeakMap<PoolClient, ServerConnection>();
  readonly #clients = new WeakMap<DatabaseConnection, PoolClient>();
  readonly #beginWithSettings: CompiledQuery;

  constructor(url: string, options: DriverOptions) {
    const {
      busyTimeoutMs = defaultBusyTimeoutMs,
      idleTimeoutMs = defaultIdleTimeoutMs,
      poolSize = defaultPoolSize,
      poolWaitMs = defaultPoolWaitMs,
    } = options;
    const settings = { lock_timeout: busyTimeoutMs, idle_in_transaction_session_timeout: idleTimeoutMs };
    this.#open = () => {
      const onConnect = (client: PoolClient) => void this.#servers.set(client, new ServerConnection(client, settings));
      const pool = new ConnectionPool(url, { size: poolSize, waitMs: poolWaitMs, types: createTypes(), onConnect });
      options.onPool?.(pool.readUse);
      return pool;
    };
    // In one round trip. Connection poolers do not support settings of sessions.
    const setLocal = Object.entries(settings).map(([name, value]) => `set local ${name} = ${value}`);
    this.#beginWithSettings = CompiledQuery.raw(["begin", ...setLocal].join("; "));
  }

  async init(): Promise<void> {
    this.#pool = this.#open();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (!this.#pool) throw new Error("the driver is not open");
    const client = await this.#pool.connect();
    const server = this.#servers.get(client);
    if (!server) throw new TypeError("not a client of this driver");
    const connection = new PipelinedConnection(server);
    this.#clients.set(connection, client);
    return connection;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const client = this.#clients.get(connection);
    if (client) this.#pool?.release(client);
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    if (!(connection instanceof PipelinedConnection)) throw new TypeError("not a connection of this driver");
    const isReadOnly = settings.accessMode === "read only";
    const client = this.#clients.get(connection);
    const hasSettings = client !== undefined && this.#servers.get(client)?.isDirect === true;
    connection.begin(isReadOnly ? beginReading : hasSettings ? begin : this.#beginWithSettings, { isReadOnly });
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PipelinedConnection) await connection.commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PipelinedConnection) await connection.rollback();
  }

  async destroy(): Promise<void> {
    await this.#pool?.end();
  }
}
