import { type Kysely, sql } from "kysely";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { batchOf } from "../../../../src/storage/batch.ts";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { toStorageError } from "../../../../src/storage/dialects.ts";
import { createDeferredStatement, createStatement } from "../../../../src/storage/statement.ts";
import type { Tables } from "../../../../src/storage/tables.ts";
import {
  execute,
  postgresServer,
  postgresSkipped,
  takeDatabase,
  type TestDatabase,
} from "../../../support/postgres.ts";

const createSelect = () =>
  createStatement<{ value: string }, { readonly value: string }>((slot) => sql`select ${slot("value")} as value`);
const select = createSelect();
const divide = createStatement<{ by: number }>((slot) => sql`select 1 / cast(${slot("by")} as bigint) as value`);

describe.skipIf(postgresServer === undefined)("prepared statements", () => {
  let held: TestDatabase;
  let database: Database;

  beforeEach(async () => {
    held = await takeDatabase();
    // All statements use the same session.
    database = await openDatabase(held.url, { nowMs: 0, poolSize: 1, busyTimeoutMs: 4_321 });
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await database.db.destroy();
    await held.drop();
  });

  const run = (value: string, statement = select, db: Kysely<Tables> = database.db) =>
    statement(db, database.dialect, { value });

  const readPrepared = async () => {
    const { rows } = await sql<{ name: string; planned_once: number }>`
      select name, generic_plans as planned_once from pg_prepared_statements
      where statement not like 'update account_versions%' order by prepare_time`.execute(database.db);
    return rows;
  };

  it("are prepared in the first execution, and planned once", async () => {
    for (let n = 1; n <= 8; n++) expect((await run(`${n}`)).rows).toEqual([{ value: `${n}` }]);
    expect(await readPrepared()).toEqual([{ name: "starpost_1", planned_once: 3 }]);
  });

  it("are not prepared twice by executions at the same time", async () => {
    const found = await database.db
      .transaction()
      .execute((db) => Promise.all(["a", "b", "c"].map((value) => run(value, select, db))));
    expect(found.map(({ rows }) => rows[0]?.value)).toEqual(["a", "b", "c"]);
    expect(await readPrepared()).toHaveLength(1);
  });

  it("do not include statements that are built for each call, and those with long values", async () => {
    await sql`select ${1}::int`.execute(database.db);
    await run("x".repeat(4_001));
    expect(await readPrepared()).toEqual([]);
    await run("x".repeat(4_000));
    expect(await readPrepared()).toHaveLength(1);
  });

  it("are at most 200 per connection", async () => {
    await database.db.transaction().execute(async (db) => {
      for (let n = 0; n < 201; n++) await run("a", createSelect(), db);
    });
    // They have the same text.
    expect(await readPrepared()).toHaveLength(1);
    await database.db.transaction().execute(async (db) => {
      for (let n = 0; n < 201; n++) {
        await createStatement<{ n: number }>((slot) => sql`select ${slot("n")}::int + ${sql.lit(n)}`)(
          db,
          database.dialect,
          { n },
        );
      }
    });
    expect(await readPrepared()).toHaveLength(200);
  });

  it("can be executed after a failure, in the same connection and with its error", async () => {
    for (let n = 0; n < 3; n++) {
      await expect(divide(database.db, database.dialect, { by: 0 })).rejects.toMatchObject({ code: "22012" });
    }
    expect(await divide(database.db, database.dialect, { by: 1 })).toMatchObject({ rows: [{ value: 1 }] });
    const failing = database.db.transaction().execute(async (db) => {
      await divide(db, database.dialect, { by: 0 }).catch(() => {});
      // The server ignores it.
      await run("a", select, db);
    });
    await expect(failing).rejects.toMatchObject({ code: "22012" });
    expect((await run("b")).rows).toEqual([{ value: "b" }]);
  });

  it("are prepared again when a table has changed or somebody has deleted them", async () => {
    const read = createStatement<{ id: number }>((slot) => sql`select * from changed where id = ${slot("id")}`);
    const readOne = () => read(database.db, database.dialect, { id: 1 });
    const problem = (error: unknown) => toStorageError(error, "db")?.problem;
    await execute("create table changed (id bigint); insert into changed values (1)", held.url);
    expect(await readOne()).toMatchObject({ rows: [{ id: 1 }] });
    await execute("alter table changed add name text", held.url);
    expect(await readOne().catch(problem)).toBe("busy");
    expect(await readOne()).toMatchObject({ rows: [{ id: 1, name: null }] });
    await sql`deallocate all`.execute(database.db);
    expect(await readOne().catch(problem)).toBe("busy");
    expect(await readOne()).toMatchObject({ rows: [{ id: 1, name: null }] });
    await execute("drop table changed", held.url);
  });

  it("are planned again after 250 ms, and then less and less often", async () => {
    const sent = vi.spyOn(Client.prototype, "query");
    const discarded = () =>
      sent.mock.calls.filter(([query]) => (query as unknown as { text?: string }).text === "discard plans").length;
    const now = vi.spyOn(performance, "now");
    let ms = performance.now();
    now.mockImplementation(() => ms);
    const discardedAfter = async (laterMs: number) => {
      sent.mockClear();
      ms += laterMs;
      await run("a");
      return discarded();
    };
    await discardedAfter(100_000);
    expect(await discardedAfter(499)).toBe(0);
    expect(await discardedAfter(1)).toBe(1);
    expect(await discardedAfter(999)).toBe(0);
    for (let n = 0; n < 10; n++) expect(await discardedAfter(10_000)).toBe(1);
    expect(await discardedAfter(9_999)).toBe(0);
    expect((await run("b")).rows).toEqual([{ value: "b" }]);
  });

  it("look up the rows of a batch by index, although the planner does not know their number", async () => {
    const [account] = await execute(
      "insert into accounts (app_key, secret_sealed, created_at) values ('a', '', 0) returning id",
      held.url,
    );
    const accountId = Number(account?.["id"]);
    await execute(
      `insert into orders (account_id, order_id, platform, email, customer_name, order_date, created_at)
       select ${accountId}, 'o' || n, 'general', 'ann@mail.example', 'Ann', 0, 0 from generate_series(1, 2000) as n`,
      held.url,
    );
    // Otherwise, the plan depends on when the server does this itself.
    await execute("analyze orders", held.url);
    const find = createStatement<{ accountId: number; rows: string }>(
      (slot, dialect) => sql`
        select orders.id from ${batchOf<{ order_id: string }>({ order_id: "text" }, slot("rows"), dialect)}
          cross join orders
        where orders.account_id = ${slot("accountId")} and orders.order_id = batch.order_id`,
    );
    for (let n = 1; n <= 6; n++) {
      await find(database.db, database.dialect, { accountId, rows: JSON.stringify([[`o${n}`]]) });
    }
    const [prepared] = await readPrepared();
    expect(prepared?.planned_once).toBe(1);
    const { rows } = await sql<{ "QUERY PLAN": string }>`
      explain execute ${sql.ref(prepared?.name ?? "")} ('[]', ${sql.lit(accountId)})`.execute(database.db);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toMatch(/Index Cond: \(\(account_id = \$\d\) AND \(order_id = /);
    expect(plan).not.toContain("Join Filter");
  });

  it("are in a session with the settings of transactions, which need not be sent again", async () => {
    const sent = vi.spyOn(Client.prototype, "query");
    const { rows } = await sql<Record<string, unknown>>`
      select current_setting('lock_timeout') as lock_timeout,
        current_setting('idle_in_transaction_session_timeout') as idle_timeout`.execute(database.db);
    expect(rows).toEqual([{ lock_timeout: "4321ms", idle_timeout: "8s" }]);
    const add = createDeferredStatement<{ key: string }>(
      (slot) => sql`insert into accounts (app_key, secret_sealed, created_at) values (${slot("key")}, '', 0)`,
    );
    await database.db.transaction().execute((db) => add(db, database.dialect, { key: "a" }));
    const texts = sent.mock.calls.map(([query]) => (query as unknown as { text: string }).text);
    expect(texts.filter((text) => /^(?:begin|commit|set)/.test(text))).toEqual(["begin", "commit"]);
  });
});

if (postgresServer === undefined) it.skip(postgresSkipped);
