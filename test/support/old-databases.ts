import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, sql } from "kysely";
import { describe, it, onTestFinished } from "vitest";
import { dialects } from "../../src/storage/dialects.ts";
import { migrations } from "../../src/storage/migrations/migrations.ts";
import { postgresServer, postgresSkipped, takeEmptyDatabase } from "./postgres.ts";

/** Creates a database with an earlier version of the schema, and rows. */
export async function makeVersion(
  newest: number,
  url: string,
  insertRows: (db: Kysely<never>) => Promise<void>,
): Promise<void> {
  const dialect = url.startsWith("postgres") ? dialects.postgres : dialects.sqlite;
  const db = new Kysely<never>({ dialect: await dialect.createDriver(url, {}) });
  const schema = dialect.createSchema(db);
  await sql`create table starpost_migrations (version integer primary key, name text, applied_at bigint)`.execute(db);
  for (const { version, name, up } of migrations.filter((migration) => migration.version <= newest)) {
    await up(schema, dialect, db);
    await sql`insert into starpost_migrations values (${version}, ${name}, 0)`.execute(db);
  }
  await insertRows(db);
  await db.destroy();
}

async function placeOnSqlite(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "starpost.db");
}

async function placeOnPostgres(): Promise<string> {
  const { url, drop } = await takeEmptyDatabase();
  onTestFinished(drop);
  return url;
}

const places = {
  SQLite: placeOnSqlite,
  ...(postgresServer !== undefined && { PostgreSQL: placeOnPostgres }),
};

/** Runs a suite on each kind of database. `place` returns the address of an empty one. */
export function describePlaces(title: string, suite: (place: () => Promise<string>) => void): void {
  describe.each(Object.entries(places))(`${title} on %s`, (_name, place) => suite(place));
  if (postgresServer === undefined) it.skip(`${title} on ${postgresSkipped}`);
}
