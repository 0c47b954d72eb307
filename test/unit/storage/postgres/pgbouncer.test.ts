import { sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { newestSchema } from "../../../../src/storage/schema/migrate.ts";
import { pgBouncer, throughPgBouncer } from "../../../support/databases.ts";
import { takeDatabase, takeEmptyDatabase } from "../../../support/postgres.ts";

const account = (app_key: string) => ({ app_key, secret_sealed: "s", created_at: 0 });

describe.skipIf(pgBouncer === undefined)("PgBouncer in transaction mode", () => {
  async function open(take: typeof takeDatabase): Promise<Database> {
    const { url, drop } = await take();
    onTestFinished(drop);
    const database = await openDatabase(throughPgBouncer(url), { nowMs: 7 });
    onTestFinished(() => database.db.destroy());
    return database;
  }

  it("lets an empty database be migrated", async () => {
    const { db } = await open(takeEmptyDatabase);
    const { rows } = await sql`select max(version) as version from starpost_migrations`.execute(db);
    expect(rows).toEqual([{ version: newestSchema }]);
  });

  it("serves more transactions than it has connections, none of which leaves anything in a session", async () => {
    const { db } = await open(takeDatabase);
    const session = sql<Record<string, unknown>>`select pg_backend_pid() as pid,
      current_setting('lock_timeout') as lock_timeout,
      current_setting('idle_in_transaction_session_timeout') as idle_timeout,
      (select count(*) from pg_prepared_statements) as prepared,
      (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory') as locks`;
    await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        db.transaction().execute((writing) =>
          writing
            .insertInto("accounts")
            .values(account(`n${at}`))
            .execute(),
        ),
      ),
    );
    const sessions = await Promise.all(Array.from({ length: 10 }, async () => (await session.execute(db)).rows));
    const pids = new Set(sessions.flat().map(({ pid }) => pid));
    expect(pids.size).toBeLessThanOrEqual(4);
    for (const row of sessions.flat()) {
      expect(row).toMatchObject({ lock_timeout: "0", idle_timeout: "0", prepared: 0, locks: 0 });
    }
    expect(await db.selectFrom("accounts").select("app_key").execute()).toHaveLength(10);
  });
});

if (pgBouncer === undefined) it.skip("PgBouncer: skipped because STARPOST_TEST_PGBOUNCER is not set");
