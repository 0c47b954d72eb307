import { Kysely } from "kysely";
import { AddressError, parseDatabaseAddress } from "./address.ts";
import type { DatabaseAddress, DriverOptions, StorageDialect, StorageDriver } from "./dialect.ts";
import { dialects, toStorageError } from "./dialects.ts";
import { migrate } from "./migrations/migrate.ts";
import { StorageError } from "./storage-error.ts";
import type { Tables } from "./tables.ts";

export interface Database extends Pick<StorageDriver, "readVersion"> {
  readonly db: Kysely<Tables>;
  readonly dialect: StorageDialect;
  /** The database as it is shown to users: a path, or a URL without its password. */
  readonly shownAs: string;
}

interface OpenOptions extends Pick<DriverOptions, "busyTimeoutMs"> {
  readonly nowMs: number;
  /** Whether all changes are rolled back when the database is closed; see `rehearse`. */
  readonly isRehearsal?: boolean | undefined;
}

/**
 * Opens a database from a path, a `sqlite:` URL, or a `postgres://` URL, and migrates its schema.
 * @throws StorageError
 */
export async function openDatabase(
  url: string,
  { nowMs, isRehearsal = false, ...options }: OpenOptions,
): Promise<Database> {
  const { dialect: name, location, shownAs } = parseAddress(url);
  const dialect = dialects[name];
  let driver = await dialect.createDriver(location, options);
  if (isRehearsal) {
    const { rehearse } = await import("./rehearsal.ts");
    driver = rehearse(driver);
  }
  const db = new Kysely<Tables>({ dialect: driver });
  try {
    await migrate(db as unknown as Kysely<never>, dialect, nowMs);
  } catch (error) {
    await db.destroy().catch(() => {});
    throw toStorageError(error, shownAs) ?? error;
  }
  return { db, dialect, shownAs, readVersion: driver.readVersion };
}

function parseAddress(url: string): DatabaseAddress {
  try {
    return parseDatabaseAddress(url);
  } catch (error) {
    throw error instanceof AddressError ? new StorageError("cannotOpen", error.message) : error;
  }
}
