import type { ColumnBuilderCallback, Dialect as KyselyDialect, Kysely, RawBuilder, SchemaModule } from "kysely";
import type { StorageIssue } from "./storage-error.ts";
import type { Tables } from "./tables.ts";

export type DialectName = "sqlite" | "postgres";

/** Default time that a statement waits for another process's write, in milliseconds. */
export const defaultBusyTimeoutMs = 10_000;

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
  /** Opens an existing database without changing it. */
  readonly isReadOnly?: boolean;
}

export interface StorageDriver extends KyselyDialect {
  /**
   * Returns a number that changes when another process has written to the database. While a call of this process is in
   * flight, the number may be from the start of that call. Absent if the database does not provide one.
   */
  readonly readVersion?: (() => number) | undefined;
}

/** Facts about a database that only its dialect can find out. */
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
}

/** Names the columns of a batch in order, with the SQL type of each. */
export type BatchColumns<R> = { readonly [C in keyof R & string]: "text" | "integer" };

/** Everything in which the supported databases differ. Each is implemented in a folder of its own. */
export interface StorageDialect {
  readonly name: DialectName;
  /** Whether the database is a server, which processes on several machines can share. */
  readonly isServer: boolean;
  /** Whether transactions of one process run strictly in the order in which they were started. */
  readonly runsInOrder: boolean;
  /** Loads the driver. The database itself is opened by the first query. */
  createDriver(location: string, options: DriverOptions): Promise<StorageDriver>;
  /** Explains an error of the driver, or returns undefined if it is not a known storage error. */
  explainError(error: unknown): StorageIssue | undefined;

  /** A schema builder for which `text` compares by code point, and integers have 64 bits. */
  createSchema(db: Kysely<never>): SchemaModule;
  /** The type and constraints of a primary key that is never reused, even after its row is deleted. */
  readonly idColumn: { readonly type: "integer" | "bigint"; readonly build: ColumnBuilderCallback };
  /** @throws SchemaError if the database cannot hold the tables */
  checkEmptyDatabase(db: Kysely<never>): Promise<void>;
  readTableNames(db: Kysely<never>): Promise<string[]>;

  /**
   * Runs statements in order, none of which needs the result of another. A server receives all of them before it answers
   * the first, so that they take one round trip. Each step must start its statement immediately, without waiting before.
   */
  runAll(steps: readonly (() => Promise<unknown>)[]): Promise<void>;
  /** A derived table of the rows in a JSON list of lists. */
  selectBatch<R>(columns: BatchColumns<R>, rows: RawBuilder<unknown>): RawBuilder<R>;
  /**
   * Ends an `insert … select … from batch` that joins other tables, so that the new IDs are in the order of the batch.
   */
  readonly inBatchOrder: RawBuilder<unknown>;
  /** Limits an `update` or a `delete` of a table to some of the rows that meet a condition. */
  isAmongFirst(table: string, condition: RawBuilder<unknown>, limit: number): RawBuilder<boolean>;
  /** Ends a `select` of rows to take: skips rows that another transaction is taking. */
  readonly skipLocked: RawBuilder<unknown>;

  /**
   * Returns a number that changes when another connection has written to the database. Within a transaction that may
   * write, it does not change. NaN, which equals nothing, if the database does not provide one.
   */
  readDataVersion(db: Kysely<Tables>): Promise<number>;
  readFacts(db: Kysely<Tables>, location: string, clock: () => number): Promise<DialectFacts>;
}
