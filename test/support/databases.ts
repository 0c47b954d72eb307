import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, it } from "vitest";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { distributeDatabase } from "../../src/storage/postgres/distribute-database.ts";
import { findScattered, recordStatements } from "./partition-check.ts";
import { partitionTables } from "./partitions.ts";
import { addCitusWorkers, postgresServer, postgresSkipped, takeDatabase, type TestDatabase } from "./postgres.ts";

/** A database with the current schema and no rows. */
export interface Place {
  readonly url: string;
  readonly remove: () => Promise<void>;
}

export async function placeOnSqlite(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  const url = join(folder, "starpost.db");
  template ??= createTemplate();
  await writeFile(url, await template, { mode: 0o600 });
  return { url, remove: () => rm(folder, { recursive: true }) };
}

/** An empty database, created once per worker: the migrations take longer than most tests. */
let template: Promise<Buffer> | undefined;

async function createTemplate(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  try {
    const path = join(folder, "starpost.db");
    const { db } = await openDatabase(path, { nowMs: Date.UTC(2026, 2, 15, 12) });
    // The driver checkpoints only when its statements are collected, which may be after the file is read.
    await sql`pragma wal_checkpoint(truncate)`.execute(db);
    await db.destroy();
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function placeOnPostgres(): Promise<Place> {
  const { url, drop } = await takeDatabase();
  return { url, remove: drop };
}

/** The URL of PgBouncer in transaction mode before the server for test databases; undefined if the variable is not set. */
export const pgBouncer = process.env["STARPOST_TEST_PGBOUNCER"] || undefined;

/** The address of a test database through PgBouncer. */
export function throughPgBouncer(url: string): string {
  const pooled = new URL(pgBouncer ?? "");
  pooled.pathname = new URL(url).pathname;
  return pooled.href;
}

async function placeBehindPgBouncer(): Promise<Place> {
  const { url, drop } = await takeDatabase();
  return { url: throughPgBouncer(url), remove: drop };
}

/** Databases with partitioned tables that earlier tests released. */
const partitioned: string[] = [];

/**
 * On PostgreSQL with partitioned tables. Removing it fails if the engine has sent a statement that may touch several
 * partitions of a table.
 */
export async function placeOnPartitions(): Promise<Place> {
  return checkStatements(await takeDatabase(partitionTables, partitioned));
}

function checkStatements({ url, drop }: TestDatabase): Place {
  const statements = recordStatements();
  return {
    url,
    remove: async () => {
      const scattered = await findScattered(url, statements.stop());
      await drop();
      if (scattered.length > 0)
        throw new Error(`statements over several partitions or nodes:\n${scattered.join("\n")}`);
    },
  };
}

/** Databases with distributed tables that earlier tests released. */
const distributed: string[] = [];

/**
 * On a Citus cluster; see `.ci/citus`. Removing it fails if the engine has sent a statement that has several tasks.
 */
async function placeOnCitus(): Promise<Place> {
  const taken = await takeDatabase(async (address) => {
    await addCitusWorkers(address);
    await distributeDatabase(address, { nowMs: 0 });
  }, distributed);
  return checkStatements(taken);
}

const kinds = {
  sqlite: placeOnSqlite,
  postgres: placeOnPostgres,
  pgbouncer: placeBehindPgBouncer,
  partitions: placeOnPartitions,
  citus: placeOnCitus,
} as const;

type DatabaseKind = keyof typeof kinds;

/** A kind of database, and a function that opens a new one. */
export interface TestedPlace {
  readonly kind: DatabaseKind;
  readonly place: () => Promise<Place>;
}

/**
 * The databases on which suites run: those in `STARPOST_TEST_DATABASES` (see `vitest.databases.config.ts`), otherwise
 * SQLite and, if there is a server, PostgreSQL.
 */
export const places: readonly TestedPlace[] = (
  process.env["STARPOST_TEST_DATABASES"] ?? (postgresServer === undefined ? "sqlite" : "sqlite,postgres")
)
  .split(",")
  .map((kind) => ({ kind: kind as DatabaseKind, place: kinds[kind as DatabaseKind] }));

/** Opens a database of the first kind: SQLite, unless others were chosen. */
export const firstPlace = (): Promise<Place> => (places[0]?.place ?? placeOnSqlite)();

/** Runs a suite on each kind of database. Each test gets a new database. */
export function describeDatabases(title: string, suite: (url: () => string) => void): void {
  describe.each(places)(`${title} on $kind`, ({ place }) => {
    let held: Place | undefined;
    beforeEach(async () => {
      held = await place();
    });
    afterEach(async () => {
      await held?.remove();
      held = undefined;
    });
    suite(() => {
      if (!held) throw new Error("the database is there only while a test runs");
      return held.url;
    });
  });
  if (postgresServer === undefined) it.skip(`${title} on ${postgresSkipped}`);
}

/** Adds an account that transactions can lock. */
export async function addLockable({ db }: Pick<Database, "db">, app_key = "locked"): Promise<number> {
  const row = { app_key, secret_sealed: "s", created_at: 0 };
  const { id } = await db.insertInto("accounts").values(row).returning("id").executeTakeFirstOrThrow();
  await db.insertInto("account_versions").values({ account_id: id, version: 1 }).execute();
  return id;
}
