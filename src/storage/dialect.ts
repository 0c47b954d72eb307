import type { Dialect as KyselyDialect, Kysely, RawBuilder } from "kysely";
import type { SqlTypes } from "./schema/create-table.ts";
import type { StorageIssue } from "./storage-error.ts";
import type { Tables } from "./tables.ts";
import type { Table } from "./tables/columns.ts";
import type { TextSearch } from "./text-search.ts";
import type { TokenStore } from "./token-store.ts";

export type DialectName = "sqlite" | "postgres";

/** Default time that a statement waits for another process's write, in milliseconds. */
export const defaultBusyTimeoutMs = 10_000;

/** Default maximum number of connections of a process to a server. */
export const defaultPoolSize = 10;

/** Default time that a call waits for one of these connections, in milliseconds. */
export const defaultPoolWaitMs = 10_000;

export interface DatabaseAddress {
  readonly dialect: DialectName;
  /** A path, or the URL of a server, which may contain a password. */
  readonly location: string;
  /** Whether `location` is the path of a file. */
  readonly isFile: boolean;
  /** The address as it is shown to users: without a password. */
  readonly shownAs: string;
}

export interface DriverOptions {
  /** How long a write waits for another process's, in milliseconds. */
  readonly busyTimeoutMs?: number;
  /** How long a transaction on a server may wait for its process, in milliseconds (default: 8 seconds). */
  readonly idleTimeoutMs?: number;
  /** Opens an existing database without changing it. */
  readonly isReadOnly?: boolean;
  /** Whether the next transaction of a file may start before the last one is on the disk, but not its answer (default: false). */
  readonly isBulk?: boolean | undefined;
  /** The maximum number of connections to a server (default: 10). */
  readonly poolSize?: number | undefined;
  /** How long a call waits for one of them, in milliseconds (default: 10 seconds). */
  readonly poolWaitMs?: number | undefined;
  /** Receives a function that reads how the connections to a server are used. */
  readonly onPool?: ((read: () => PoolUse) => void) | undefined;
}

/** The connections of this process to a server. */
export interface PoolUse {
  readonly total: number;
  readonly idle: number;
  /** Transactions that wait for a connection. */
  readonly waiting: number;
  /** Whether there are fewer than configured because the server has refused more in the last minute. */
  readonly isRefused: boolean;
}

/** Copies of a database on other servers. */
export interface Replication {
  /** Whether this server itself is a replica, and how far it is behind its primary; null if that is not known. */
  readonly isReplica: boolean;
  readonly lagMs: number | null;
  readonly replicas: readonly {
    readonly name: string;
    /** Such as `streaming`; null if this role may not see it. */
    readonly state: string | null;
    readonly lagMs: number | null;
  }[];
}

/** Facts about a database that only its dialect can find out. */
export interface ConnectionFacts {
  /** What is closest to its limit on connections of ordinary roles: the server, the database, or the role. */
  readonly limitOf: "server" | "database" | "role";
  readonly max: number;
  /** How many it has. */
  readonly used: number;
  /** Those of starpost to this database, without that of the inspection. */
  readonly own: number;
}

export interface DialectFacts {
  /** For example, `PostgreSQL 16.2`. */
  readonly version: string;
  readonly bytes: number;
  /** Whether writes go to a log first, so that readers do not wait; null if that is always the case. */
  readonly hasWriteAheadLog: boolean | null;
  /** Server time minus local time, in milliseconds; null without a server. */
  readonly clockAheadMs: number | null;
  /** Who has held the write lock, and for how long; null if nobody has, or if that is not known. */
  readonly writer: { readonly name: string; readonly forMs: number } | null;
  /** Null without a server. */
  readonly replication: Replication | null;
  /** The connections to the server, including that of the inspection; null without a server. */
  readonly connections: ConnectionFacts | null;
  /** Null if no tables are distributed over several servers. */
  readonly cluster: ClusterFacts | null;
}

/** The servers that the rows of accounts are distributed over. */
export interface ClusterFacts {
  /** The number of distributed tables. */
  readonly tables: number;
  readonly nodes: readonly NodeFacts[];
}

export interface NodeFacts {
  /** Host and port. */
  readonly node: string;
  readonly isReachable: boolean;
  /** The number of shards of each table. */
  readonly shards: number;
  /** The number of accounts whose rows it has; null if it cannot be reached. */
  readonly accounts: number | null;
}

/** Names the columns of a batch in order, with the SQL type of each. */
export type BatchColumns<R> = { readonly [C in keyof R & string]: "text" | "integer" };

/** Everything in which the supported databases differ. Each is implemented in a folder of its own. */
export interface StorageDialect {
  readonly name: DialectName;
  /**
   * Whether the database has one writer at a time, so that transactions of one process run strictly in the order in which
   * they were started.
   */
  readonly runsInOrder: boolean;
  /** Whether statements are sent before the earlier ones have been answered, so that their errors arrive later. */
  readonly isPipelined: boolean;
  /** Loads the driver. The database itself is opened by the first query. */
  createDriver(location: string, options: DriverOptions): Promise<KyselyDialect>;
  /** Explains an error of the driver, or returns undefined if it is not a known storage error. */
  explainError(error: unknown): StorageIssue | undefined;

  /** The SQL types of columns, for migrations. */
  readonly sqlTypes: SqlTypes;
  /** Creates tables with their indexes, in order. */
  createTables(tables: Readonly<Record<string, Table>>, db: Kysely<never>): Promise<void>;
  /** Whether primary keys consist of the account and an ID, so that rows can be distributed by account. */
  readonly keysHaveAccounts: boolean;
  /** Makes other migrations wait until the end of the transaction. */
  lockDatabase(db: Kysely<never>): Promise<void>;
  /** @throws SchemaError if the database cannot hold the tables */
  checkEmptyDatabase(db: Kysely<never>): Promise<void>;
  readTableNames(db: Kysely<never>): Promise<string[]>;

  /**
   * Runs statements in order, none of which needs the result of another. A server receives all of them before it answers
   * the first, so that they take one round trip. Each step must start its statement immediately, without waiting before.
   * @returns the results, in the order of the steps
   */
  runAll<T extends readonly unknown[]>(steps: { readonly [At in keyof T]: () => Promise<T[At]> }): Promise<T>;
  /** A derived table of the rows in a JSON list of lists. */
  selectBatch<R>(columns: BatchColumns<R>, rows: RawBuilder<unknown>): RawBuilder<R>;
  /**
   * Ends an `insert … select … from batch` that joins other tables, so that the new IDs are in the order of the batch.
   */
  readonly inBatchOrder: RawBuilder<unknown>;
  /** Limits an `update` or a `delete` of a table to some of the rows that meet a condition. */
  isAmongFirst(table: string, condition: RawBuilder<unknown>, limit: number): RawBuilder<boolean>;
  /** A column in a condition for which no index is to be used, because another one leads to fewer rows. */
  withoutIndex<T>(column: RawBuilder<T>): RawBuilder<T>;
  /** Whether a text contains other characters than visible ASCII ones. */
  isNotPlain(text: RawBuilder<string>): RawBuilder<boolean>;
  /**
   * A condition that is tested row by row. The planner does not estimate how few rows meet it, and so does not prefer reading and
   * sorting all rows to reading the first ones in order.
   */
  testRows(condition: RawBuilder<unknown>): RawBuilder<boolean>;
  /** Ends a subquery that the planner must not merge with the outer query. */
  readonly optimizationFence: RawBuilder<unknown>;
  readonly textSearch: TextSearch;
  /** Creates a store of the limits on calls, which the processes of a server share. */
  createTokenStore(db: Kysely<Tables>, clock: () => number): TokenStore;

  /**
   * Removes the remains of deleted and changed rows of tables, as far as the database can. Not in a transaction.
   * @returns false if another process prevents that for now
   */
  removeDeleted(tables: readonly (keyof Tables)[], db: Kysely<Tables>): Promise<boolean>;
  /** Distributes the tables that a migration has added, if the others are distributed. */
  distributeNewTables?(db: Kysely<never>): Promise<void>;
  /** Lists the servers of a cluster that cannot be reached. */
  findLostNodes?(db: Kysely<Tables>): Promise<readonly string[]>;
  /**
   * Reads a distributed table on the servers that can be reached.
   * @param select the statement for each shard, whose name replaces `%s`
   */
  readReachable?<R>(table: keyof Tables, select: string, db: Kysely<Tables>): Promise<R[]>;
  /** Returns the time of a server, on which all its processes agree. Without it, they share the clock of their machine. */
  openClock?(db: Kysely<Tables>): Promise<() => number>;
  readFacts(db: Kysely<Tables>, location: string, clock: () => number): Promise<DialectFacts>;
}
