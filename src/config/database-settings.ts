import { AddressError, parseDatabaseAddress } from "../storage/address.ts";
import { type Environment, readVariable } from "./environment.ts";
import { invalidValue, usageError } from "./user-error.ts";

type Address = ReturnType<typeof parseDatabaseAddress>;

const poolVariable = "STARPOST_DATABASE_POOL";

const poolWaitVariable = "STARPOST_DATABASE_POOL_WAIT";

const readerVariable = "STARPOST_DATABASE_READER";

const readerHint = "Use the URL of a streaming replica, as in STARPOST_DATABASE, or unset the variable.";

/** Sizes of a connection pool. With one connection, a call would wait for those that follow it. */
const poolSizes = { min: 2, max: 1_000 } as const;

/** Times to wait for a connection, in seconds. */
const poolWaits = { min: 0, max: 300 } as const;

/**
 * Reads the maximum number of connections to a PostgreSQL server. Ignored for SQLite files.
 * @returns undefined for the default
 * @throws UserError `usage`
 */
export function findPoolSize(env: Environment): number | undefined {
  return findInteger(env, poolVariable, poolSizes);
}

/** How a process uses the connections to a PostgreSQL server; undefined for defaults. */
export interface PoolSettings {
  readonly poolSize: number | undefined;
  readonly poolWaitMs: number | undefined;
}

/**
 * Reads the maximum number of connections to a PostgreSQL server, and how long a call waits for one.
 * @throws UserError `usage`
 */
export function findPoolSettings(env: Environment): PoolSettings {
  const seconds = findInteger(env, poolWaitVariable, poolWaits);
  return { poolSize: findPoolSize(env), poolWaitMs: seconds === undefined ? undefined : seconds * 1_000 };
}

function findInteger(env: Environment, variable: string, { min, max }: typeof poolSizes | typeof poolWaits) {
  const text = readVariable(env, variable);
  if (text === undefined) return undefined;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidValue(text, variable, `an integer from ${min} to ${max}`);
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
