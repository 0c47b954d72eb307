import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../src/storage/database.ts";
import { migrations } from "../../../src/storage/migrations/migrations.ts";
import { sqliteLikeColumns } from "../../../src/storage/postgres/columns.ts";
import { createPostgresDialect } from "../../../src/storage/postgres/dialect.ts";
import { createSqliteDialect } from "../../../src/storage/sqlite/dialect.ts";
import { postgresServer, postgresSkipped, takeEmptyDatabase } from "../../support/postgres.ts";

/** Makes a database as version 2 had it, with an order, and mails that nobody sent. */
async function makeVersion2(url: string): Promise<void> {
  const isPostgres = url.startsWith("postgres");
  const dialect = isPostgres ? createPostgresDialect(url) : createSqliteDialect(url);
  const db = new Kysely<never>({ dialect });
  const schema = isPostgres ? db.withPlugin(sqliteLikeColumns).schema : db.schema;
  await sql`create table starpost_migrations (version integer primary key, name text, applied_at bigint)`.execute(
    db,
  );
  for (const { version, name, up } of migrations.filter((migration) => migration.version <= 2)) {
    await up(schema, isPostgres ? "postgres" : "sqlite");
    await sql`insert into starpost_migrations values (${version}, ${name}, 0)`.execute(db);
  }
  await sql`insert into accounts (app_key, secret_sealed, created_at) values ('key', 's', 0)`.execute(db);
  await sql`insert into orders (account_id, order_id, platform, email, customer_name, order_date, created_at)
    values (1, '1001', 'general', 'ann@mail.example', 'Ann', 0, 0)`.execute(db);
  await sql`insert into mails (account_id, category, email_type_id, email, email_key, name, data, state, due_at, created_at)
    values (1, 'anonymous_testimonials_request', 14, 'A@mail.example', 'a@mail.example', 'A', '{}', 'queued', 0, 0)`.execute(
    db,
  );
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
if (postgresServer === undefined) it.skip(`mails of before over ${postgresSkipped}`);

it.each(Object.entries(places))(
  "keeps what a database of before mails were sent holds, and mails nothing of it, on %s",
  async (_name, place) => {
    const url = await place();
    await makeVersion2(url);
    const { db } = await openDatabase(url, { nowMs: 7 });
    const mails = await db.selectFrom("mails").select(["state", "reason", "attempts", "email"]).execute();
    const orders = await db.selectFrom("orders").select(["order_id", "sends_mail"]).execute();
    await db.destroy();
    const reason = "it is of before there was a way to send mails";
    expect(mails).toEqual([{ state: "not_sent", reason, attempts: 0, email: "A@mail.example" }]);
    expect(orders).toEqual([{ order_id: "1001", sends_mail: 0 }]);
  },
);
