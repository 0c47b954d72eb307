import { Kysely } from "kysely";
import { parseDatabaseAddress } from "./address.ts";
import type { DialectFacts } from "./dialect.ts";
import { dialects, toStorageError } from "./dialects.ts";
import { newestSchema, readSchemaVersion } from "./migrations/migrate.ts";
import type { StorageProblem } from "./storage-error.ts";
import type { Tables } from "./tables.ts";

export interface DatabaseFacts extends DialectFacts {
  /** The version of the schema; null if the database has no starpost tables. */
  readonly schema: number | null;
  readonly newestSchema: number;
  readonly tables: number;
  /** The chosen account, or else the first one; null if it does not exist. */
  readonly account: {
    readonly appKey: string;
    readonly secretSealed: string;
    readonly validTokens: number;
  } | null;
  /** Emails that are held, by reason, if there are any. */
  readonly heldEmails: Readonly<Record<string, number>>;
}

/** Why a database could not be inspected. */
export interface DatabaseFailure {
  readonly problem: StorageProblem | "bug";
  readonly message: string;
}

export type DatabaseInspection = { readonly facts: DatabaseFacts } | { readonly failure: DatabaseFailure };

/**
 * Inspects an existing database, and changes nothing in it or next to it.
 * @param options.busyTimeoutMs how long to wait for a lock
 * @param options.appKey the account to inspect (default: the first one)
 */
export async function inspectDatabase(
  url: string,
  {
    clock,
    busyTimeoutMs,
    appKey,
  }: { readonly clock: () => number; readonly busyTimeoutMs: number; readonly appKey?: string | undefined },
): Promise<DatabaseInspection> {
  let shownAs = "the database";
  let db: Kysely<Tables> | undefined;
  try {
    const address = parseDatabaseAddress(url);
    shownAs = address.shownAs;
    const dialect = dialects[address.dialect];
    db = new Kysely<Tables>({
      dialect: await dialect.createDriver(address.location, { isReadOnly: true, busyTimeoutMs }),
    });
    const untyped = db as unknown as Kysely<never>;
    // First, because it detects a file that is not a database.
    const tables = (await dialect.readTableNames(untyped)).length;
    const schema = (await readSchemaVersion(untyped, dialect)) ?? null;
    const facts = await dialect.readFacts(db, address.location, clock);
    const account = schema === null ? null : await readAccount(db, clock(), appKey);
    const heldEmails = schema === null || schema < holdsSince ? {} : await countHeldEmails(db);
    return { facts: { ...facts, schema, newestSchema, tables, account, heldEmails } };
  } catch (error) {
    const known = toStorageError(error, shownAs);
    const { problem = "bug", message } = known ?? { message: `${shownAs}: ${(error as Error).message}` };
    return { failure: { problem, message } };
  } finally {
    await db?.destroy().catch(() => {});
  }
}

/**
 * Reads every page of a SQLite file.
 * @returns the first three errors found
 */
export async function checkIntegrity(path: string): Promise<string[]> {
  const { SqliteFile } = await import("./sqlite/sqlite-file.ts");
  const file = new SqliteFile(path, { isReadOnly: true, busyTimeoutMs: 0 });
  try {
    const messages = file.all("pragma quick_check(3)").map(({ quick_check }) => String(quick_check));
    return messages.length === 1 && messages[0] === "ok" ? [] : messages;
  } finally {
    file.close();
  }
}

async function readAccount(
  db: Kysely<Tables>,
  nowMs: number,
  appKey: string | undefined,
): Promise<DatabaseFacts["account"]> {
  const accounts = db.selectFrom("accounts").select(["id", "app_key", "secret_sealed"]).orderBy("id").limit(1);
  const found = await (appKey === undefined ? accounts : accounts.where("app_key", "=", appKey)).executeTakeFirst();
  if (!found) return null;
  const { count } = await db
    .selectFrom("utokens")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", found.id)
    .where("expires_at", ">", nowMs)
    .executeTakeFirstOrThrow();
  return { appKey: found.app_key, secretSealed: found.secret_sealed, validTokens: count };
}

/** The version of the schema that holds emails. */
const holdsSince = 10;

async function countHeldEmails(db: Kysely<Tables>): Promise<DatabaseFacts["heldEmails"]> {
  const rows = await db
    .selectFrom("mails")
    .select(({ fn }) => ["reason", fn.countAll<number>().as("emails")])
    .where("state", "=", "queued")
    .where("held_at", "is not", null)
    .where("reason", "is not", null)
    .groupBy("reason")
    .execute();
  return Object.fromEntries(rows.map(({ reason, emails }) => [reason ?? "", emails]));
}
