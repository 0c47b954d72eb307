import { Kysely, sql } from "kysely";
import { isMissingFile, parseDatabaseAddress } from "../address.ts";
import { openDatabase } from "../database.ts";
import type { DriverOptions } from "../dialect.ts";
import { dialects, toStorageError } from "../dialects.ts";
import { missingDatabase } from "../storage-error.ts";
import { distributeTables, findCitus, listUndistributed, type TableDistribution } from "./distribution.ts";

/** What distributing a database would change; or why it cannot be distributed. */
export type DistributionPlan = (TableDistribution & { readonly addsExtension: boolean }) | { readonly problem: string };

/**
 * Finds out what distributing a database would change, and changes nothing.
 * @throws StorageError
 */
export async function planDistribution(url: string): Promise<DistributionPlan> {
  const address = parseDatabaseAddress(url);
  const { dialect: name, location, shownAs } = address;
  if (isMissingFile(address)) throw missingDatabase(shownAs);
  if (name === "sqlite") return { problem: "it is a SQLite file" };
  const db = new Kysely<never>({ dialect: await dialects[name].createDriver(location, { isReadOnly: true }) });
  try {
    if ((await dialects[name].readTableNames(db)).length === 0) throw missingDatabase(shownAs);
    const citus = await findCitus(db);
    if (typeof citus === "object") return citus;
    return { ...(await listUndistributed(db)), addsExtension: citus === "available" };
  } catch (error) {
    throw toStorageError(error, shownAs) ?? error;
  } finally {
    await db.destroy();
  }
}

/**
 * Migrates a database, and distributes the tables that are not distributed yet in one transaction.
 * @throws StorageError
 */
export async function distributeDatabase(
  url: string,
  options: { readonly nowMs: number } & Pick<DriverOptions, "poolSize">,
): Promise<TableDistribution> {
  const { db, shownAs } = await openDatabase(url, options);
  try {
    await sql`create extension if not exists citus`.execute(db);
    return await db.transaction().execute((transaction) => distributeTables(transaction));
  } catch (error) {
    throw toStorageError(error, shownAs) ?? error;
  } finally {
    await db.destroy();
  }
}
