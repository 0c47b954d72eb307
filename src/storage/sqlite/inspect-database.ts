import { Kysely, sql } from "kysely";
import { statSync } from "node:fs";
import { type DatabaseAddress, readDatabaseAddress } from "../address.ts";
import type { DialectName } from "../dialect.ts";
import { newestSchema, readSchemaVersion, readTableNames } from "../migrations/migrate.ts";
import { asStorageError, type StorageProblem } from "../storage-error.ts";
import type { Tables } from "../tables.ts";

/** What a database says of itself to somebody who only looks. */
export interface DatabaseFacts {
  readonly dialect: DialectName;
  /** Of SQLite or of the server. */
  readonly version: string;
  /** The schema's number; null where it holds nothing of ours. */
  readonly schema: number | null;
  readonly newestSchema: number;
  readonly tables: number;
  readonly bytes: number;
  /** Whether what is written goes into a log first, so that readers wait for nobody; null where it always is so. */
  readonly hasWriteAheadLog: boolean | null;
  /** The first account; null where there is none. */
  readonly account: {
    readonly appKey: string;
    readonly secretSealed: string;
    readonly validTokens: number;
  } | null;
  /** The server's clock less this machine's, milliseconds; null where both are one. */
  readonly clockAheadMs: number | null;
  /** Who has held the write lock, and for how long; null where nobody does, or nobody can tell. */
  readonly writer: { readonly name: string; readonly forMs: number } | null;
}

/** Why it cannot be looked at. */
export interface DatabaseFailure {
  readonly problem: StorageProblem | "bug";
  readonly message: string;
}

export type DatabaseInspection = { readonly facts: DatabaseFacts } | { readonly failure: DatabaseFailure };

/**
 * Looks at a database that is there, and changes nothing in it or beside it.
 * @param lookedFor how long a lock is waited for, milliseconds
 */
export async function inspectDatabase(
  url: string,
  { clock, busyTimeoutMs }: { readonly clock: () => number; readonly busyTimeoutMs: number },
): Promise<DatabaseInspection> {
  let shownAs = "the database";
  let db: Kysely<Tables> | undefined;
  try {
    const address = readDatabaseAddress(url);
    shownAs = address.shownAs;
    db = await openToRead(address, busyTimeoutMs);
    return { facts: await readFacts(db, address, clock) };
  } catch (error) {
    const known = asStorageError(error, shownAs);
    const { problem = "bug", message } = known ?? { message: `${shownAs}: ${(error as Error).message}` };
    return { failure: { problem, message } };
  } finally {
    await db?.destroy().catch(() => {});
  }
}

/** Reads every page of a SQLite file: what is wrong with it, at most three findings; nothing where all is well. */
export async function checkIntegrity(path: string): Promise<string[]> {
  const { SqliteFile } = await import("./sqlite-file.ts");
  const file = new SqliteFile(path, { isReadOnly: true, busyTimeoutMs: 0 });
  try {
    const found = file.all("pragma quick_check(3)").map(({ quick_check }) => String(quick_check));
    return found.length === 1 && found[0] === "ok" ? [] : found;
  } finally {
    file.close();
  }
}

async function openToRead(address: DatabaseAddress, busyTimeoutMs: number): Promise<Kysely<Tables>> {
  if (address.dialect === "sqlite") {
    const { createSqliteDialect } = await import("./dialect.ts");
    return new Kysely<Tables>({
      dialect: createSqliteDialect(address.path, { isReadOnly: true, busyTimeoutMs }),
    });
  }
  const { createPostgresDialect } = await import("../postgres/dialect.ts");
  return new Kysely<Tables>({ dialect: createPostgresDialect(address.url, { busyTimeoutMs }) });
}

async function readFacts(
  db: Kysely<Tables>,
  address: DatabaseAddress,
  clock: () => number,
): Promise<DatabaseFacts> {
  const { dialect } = address;
  const any = db as unknown as Kysely<never>;
  // First, since it is what meets a file that is no database.
  const tables = (await readTableNames(any, dialect)).length;
  const schema = (await readSchemaVersion(any, dialect)) ?? null;
  const own =
    address.dialect === "sqlite" ? await readSqliteFacts(db, address.path) : await readServerFacts(db, clock);
  const account = schema === null ? null : await readAccount(db, clock());
  return { dialect, schema, newestSchema, tables, account, ...own };
}

type OwnFacts = Pick<DatabaseFacts, "version" | "bytes" | "hasWriteAheadLog" | "clockAheadMs" | "writer">;

async function readSqliteFacts(db: Kysely<Tables>, path: string): Promise<OwnFacts> {
  const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(db);
  const { openSync, readSync, closeSync } = await import("node:fs");
  // A file that is read as one that never changes says nothing of its log; its header does. Source: sqlite.org/fileformat2
  const header = Buffer.alloc(20);
  const descriptor = openSync(path, "r");
  readSync(descriptor, header, 0, header.length, 0);
  closeSync(descriptor);
  return {
    version: `SQLite ${rows[0]?.version ?? ""}`,
    bytes: statSync(path).size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0),
    hasWriteAheadLog: header[19] === 2,
    clockAheadMs: null,
    writer: null,
  };
}

async function readServerFacts(db: Kysely<Tables>, clock: () => number): Promise<OwnFacts> {
  const { writeLock } = await import("../postgres/dialect.ts");
  const [high, low] = [Math.floor(writeLock / 2 ** 32), writeLock % 2 ** 32];
  const about = sql<{ version: string; bytes: number; now_ms: number }>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
      (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`;
  // Once to have a connection, which takes longer than an answer.
  await about.execute(db);
  const beforeMs = clock();
  const { version = "", bytes = 0, now_ms: serverMs = 0 } = (await about.execute(db)).rows[0] ?? {};
  const clockAheadMs = serverMs - (beforeMs + clock()) / 2;
  const { rows } = await sql<{ name: string; for_ms: number }>`
    select coalesce(nullif(application_name, ''), 'a program') || ' (server process ' || pg_locks.pid ||
        coalesce(', from ' || host(client_addr), '') || ')' as name,
      (extract(epoch from clock_timestamp() - coalesce(xact_start, clock_timestamp())) * 1000)::bigint as for_ms
    from pg_catalog.pg_locks join pg_catalog.pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and classid = ${high} and objid = ${low}
      and pg_locks.database = (select oid from pg_catalog.pg_database where datname = current_database())`.execute(
    db,
  );
  const [held] = rows;
  return {
    version: `PostgreSQL ${version}`,
    bytes,
    hasWriteAheadLog: null,
    clockAheadMs,
    writer: held ? { name: held.name, forMs: held.for_ms } : null,
  };
}

async function readAccount(db: Kysely<Tables>, nowMs: number): Promise<DatabaseFacts["account"]> {
  const found = await db
    .selectFrom("accounts")
    .select(["id", "app_key", "secret_sealed"])
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (!found) return null;
  const { count } = await db
    .selectFrom("utokens")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", found.id)
    .where("expires_at", ">", nowMs)
    .executeTakeFirstOrThrow();
  return { appKey: found.app_key, secretSealed: found.secret_sealed, validTokens: count };
}
