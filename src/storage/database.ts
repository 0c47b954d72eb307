import { type ConnectionProvider, Kysely } from "kysely";
import { AddressError, isMissingFile, parseDatabaseAddress } from "./address.ts";
import {
  type DatabaseAddress,
  defaultPoolSize,
  type DriverOptions,
  type PoolUse,
  type StorageDialect,
} from "./dialect.ts";
import { dialects, toStorageError } from "./dialects.ts";
import { migrate } from "./schema/migrate.ts";
import { missingDatabase, StorageError } from "./storage-error.ts";
import type { Tables } from "./tables.ts";

/** The share of the connections to a server that is used for writes. */
const shareOfWrites = 0.4;

/** How long the transaction of a rehearsal may wait for its next call, in milliseconds. */
const maxRehearsalPauseMs = 60_000;

export interface Database {
  readonly db: Kysely<Tables>;
  readonly dialect: StorageDialect;
  /** The database as it is shown to users: a path, or a URL without its password. */
  readonly shownAs: string;
  /** The time of the server, in milliseconds since the epoch; undefined for a file. */
  readonly clock: (() => number) | undefined;
  /** How many transactions should write at a time, so that connections remain for reads; undefined for a file. */
  readonly maxTransactions: number | undefined;
  /** The connections to a server; undefined for a file. */
  readonly poolUse: () => PoolUse | undefined;
}

interface OpenOptions extends Pick<DriverOptions, "busyTimeoutMs" | "poolSize" | "poolWaitMs" | "isBulk"> {
  readonly nowMs: number;
  /** Whether all changes are rolled back when the database is closed; see `rehearse`. */
  readonly isRehearsal?: boolean | undefined;
  /** Whether to refuse a database that does not exist or is empty, instead of creating it (default: false). */
  readonly mustExist?: boolean | undefined;
}

/**
 * Opens a database from a path, a `sqlite:` URL, or a `postgres://` URL, and migrates its schema.
 * @throws StorageError
 */
export async function openDatabase(
  url: string,
  { nowMs, isRehearsal = false, mustExist = false, ...options }: OpenOptions,
): Promise<Database> {
  const address = parseAddress(url);
  const { dialect: name, location, shownAs } = address;
  if (mustExist && isMissingFile(address)) throw missingDatabase(shownAs);
  const dialect = dialects[name];
  let readPool: (() => PoolUse) | undefined;
  let driver = await dialect.createDriver(location, {
    ...options,
    ...(isRehearsal && { idleTimeoutMs: maxRehearsalPauseMs }),
    onPool: (read) => (readPool = read),
  });
  if (isRehearsal) {
    const { rehearse } = await import("./rehearsal.ts");
    driver = rehearse(driver);
  }
  const db = new Kysely<Tables>({ dialect: driver });
  if (dialect.isPipelined && !isRehearsal) pipelineTransactions(db);
  let clock: (() => number) | undefined;
  try {
    const untyped = db as unknown as Kysely<never>;
    const isUsable = await migrate(untyped, dialect, nowMs, mustExist);
    if (!isUsable) throw missingDatabase(shownAs);
    clock = await dialect.openClock?.(db);
  } catch (error) {
    await db.destroy().catch(() => {});
    throw toStorageError(error, shownAs) ?? error;
  }
  const { poolSize = defaultPoolSize } = options;
  const maxTransactions = dialect.runsInOrder ? undefined : Math.max(2, Math.floor(poolSize * shareOfWrites));
  return { db, dialect, shownAs, clock, maxTransactions, poolUse: () => readPool?.() };
}

function parseAddress(url: string): DatabaseAddress {
  try {
    return parseDatabaseAddress(url);
  } catch (error) {
    throw error instanceof AddressError ? new StorageError("cannotOpen", error.message) : error;
  }
}

/**
 * Lets transactions execute statements while others are being executed. Otherwise, Kysely would wait for the result of
 * each before it executes the next.
 */
function pipelineTransactions(db: Kysely<Tables>): void {
  const executor = db.getExecutor();
  const withProvider = executor.withConnectionProvider.bind(executor);
  Object.assign(executor, {
    withConnectionProvider: (provider: ConnectionProvider) => withProvider(shareConnection(provider)),
  });
}

/** @param provider provides one connection to one user at a time */
function shareConnection(provider: ConnectionProvider): ConnectionProvider {
  const connection = provider.provideConnection(async (provided) => provided);
  return { provideConnection: async (use) => use(await connection) };
}
