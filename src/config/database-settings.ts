import { AddressError, parseDatabaseAddress } from "../storage/address.ts";
import { type Environment, readVariable } from "./environment.ts";
import { invalidValue, usageError } from "./user-error.ts";

type Address = ReturnType<typeof parseDatabaseAddress>;

const poolVariable = "STARPOST_DATABASE_POOL";

const readerVariable = "STARPOST_DATABASE_READER";

const readerHint = "Use the URL of a streaming replica, as in STARPOST_DATABASE, or unset the variable.";

/** Sizes of a connection pool. With one connection, a call would wait for those that follow it. */
const poolSizes = { min: 2, max: 1_000 } as const;

/**
 * Reads the maximum number of connections to a PostgreSQL server. Ignored for SQLite files.
 * @returns undefined for the default
 * @throws UserError `usage`
 */
export function findPoolSize(env: Environment): number | undefined {
  const text = readVariable(env, poolVariable);
  if (text === undefined) return undefined;
  const { min, max } = poolSizes;
  const size = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (size >= min && size <= max) return size;
  throw invalidValue(text, poolVariable, `an integer from ${min} to ${max}`);
}

/** A replica that is further behind is not used, in milliseconds. */
export const maxReaderLagMs = 10_000;

/**
 * Reads the address of a replica of the database, which servers use for reads that tolerate a lag.
 * @param database the address of the database itself
 * @throws UserError `usage`
 */
export function findReader(env: Environment, database: string): Address | undefined {
  const text = readVariable(env, readerVariable);
  if (text === undefined) return undefined;
  const address = parseAddress(text, readerVariable, readerHint);
  if (address.isFile) {
    throw usageError(`invalid value for ${readerVariable}: must be the URL of a PostgreSQL server`, readerHint);
  }
  if (parseDatabaseAddress(database).isFile) {
    throw usageError(`${readerVariable} requires PostgreSQL, but the database is a SQLite file`, readerHint);
  }
  return address;
}

/** @throws UserError `usage` */
export function parseAddress(text: string, source: string, hint: string): Address {
  try {
    return parseDatabaseAddress(text);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw usageError(`invalid value for ${source}: ${error.message}`, hint);
  }
}
