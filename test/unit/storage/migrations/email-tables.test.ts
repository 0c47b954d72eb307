import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../../src/storage/database.ts";
import { migrations } from "../../../../src/storage/migrations/migrations.ts";
import { dialects } from "../../../../src/storage/dialects.ts";
import { postgresServer, postgresSkipped, takeEmptyDatabase } from "../../../support/postgres.ts";

/** Creates a database with schema version 2, an order, and unsent emails. */
async function makeVersion2(url: string): Promise<void> {
  const dialect = url.startsWith("postgres") ? dialects.postgres : dialects.sqlite;
  const db = new Kysely<never>({ dialect: await dialect.createDriver(url, {}) });
  const schema = dialect.createSchema(db);
  await sql`create table starpost_migrations (version integer primary key, name text, applied_at bigint)`.execute(db);
  for (const { version, name, up } of migrations.filter((migration) => migration.version <= 2)) {
    await up(schema, dialect);
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
if (postgresServer === undefined) it.skip(`emails of schema version 2 on ${postgresSkipped}`);

it.each(Object.entries(places))(
  "keeps the rows of a database with schema version 2, but does not send its emails, on %s",
  async (_name, place) => {
    const url = await place();
    await makeVersion2(url);
    const { db } = await openDatabase(url, { nowMs: 7 });
    const mails = await db.selectFrom("mails").select(["state", "reason", "attempts", "email"]).execute();
    const orders = await db.selectFrom("orders").select(["order_id", "sends_mail"]).execute();
    await db.destroy();
    const reason = expect.any(String) as string;
    expect(mails).toEqual([{ state: "not_sent", reason, attempts: 0, email: "A@mail.example" }]);
    expect(orders).toEqual([{ order_id: "1001", sends_mail: 0 }]);
  },
);
