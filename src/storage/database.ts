import { type Dialect, Kysely } from "kysely";
import { AddressError, type DatabaseAddress, readDatabaseAddress } from "./address.ts";
import type { DialectName } from "./dialect.ts";
import { migrate } from "./migrations/migrate.ts";
import { asStorageError, StorageError } from "./storage-error.ts";
import type { Tables } from "./tables.ts";

/** An open database and the dialect that it speaks. */
export interface Database {
  readonly db: Kysely<Tables>;
  readonly dialect: DialectName;
  /** What a person is told it is: a path, or an address without its password. */
  readonly shownAs: string;
  /**
   * A number that changes when anybody but this process has written to the database; while a call of this process is
   * under way it may be that of the call's beginning. Absent where the database cannot tell.
   */
  readonly readVersion?: (() => number) | undefined;
}

interface OpenOptions {
  readonly nowMs: number;
  /** How long a write waits for another process's, milliseconds. */
  readonly busyTimeoutMs?: number;
  /** Whether all that is done is taken back at the end; see `rehearse`. */
  readonly isRehearsal?: boolean | undefined;
}

/**
 * Opens a database from a path, a `sqlite:` URL or a `postgres://` URL, and brings its schema up to date.
 * @throws StorageError
 */
export async function openDatabase(url: string, options: OpenOptions): Promise<Database> {
  const address = readAddress(url);
  const { dialect, shownAs } = address;
  const driver = await createDialect(address, options);
  const db = new Kysely<Tables>({ dialect: driver });
  try {
    await migrate(db as unknown as Kysely<never>, dialect, options.nowMs);
  } catch (error) {
    await db.destroy().catch(() => {});
    throw asStorageError(error, shownAs) ?? error;
  }
  return { db, dialect, shownAs, readVersion: driver.readVersion };
}

function readAddress(url: string): DatabaseAddress {
  try {
    return readDatabaseAddress(url);
  } catch (error) {
    throw error instanceof AddressError ? new StorageError("cannotOpen", error.message) : error;
  }
}

/** Loads the one driver that is needed. */
async function createDialect(
  address: DatabaseAddress,
  options: OpenOptions,
): Promise<Dialect & Pick<Database, "readVersion">> {
  const dialect = await loadDialect(address, options);
  if (options.isRehearsal !== true) return dialect;
  const { rehearse } = await import("./rehearsal.ts");
  return rehearse(dialect);
}

async function loadDialect(
  address: DatabaseAddress,
  options: OpenOptions,
): Promise<Dialect & Pick<Database, "readVersion">> {
  if (address.dialect === "sqlite") {
    const { createSqliteDialect } = await import("./sqlite/dialect.ts");
    return createSqliteDialect(address.path, options);
  }
  const { createPostgresDialect } = await import("./postgres/dialect.ts");
  return createPostgresDialect(address.url, options);
}
