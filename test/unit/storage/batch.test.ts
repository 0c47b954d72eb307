import { type RawBuilder, sql } from "kysely";
import { afterEach, beforeEach, expect, it } from "vitest";
import { batchOf, batchRows } from "../../../src/storage/batch.ts";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { createStatement } from "../../../src/storage/statement.ts";
import { describeDatabases } from "../../support/databases.ts";

interface Named {
  name: string | null;
  size: number;
}

describeDatabases("a batch", (url) => {
  let database: Database;

  beforeEach(async () => {
    database = await openDatabase(url(), { nowMs: 0 });
  });

  afterEach(() => database.db.destroy());

  it("returns rows in order with unchanged text, numbers, and nulls", async () => {
    const rows = [
      ["0012", 3],
      ['quote " and \\', -1],
      ["line\nbreak, ü, 😀", 2 ** 53 - 1],
      [null, 0],
      ["", 1],
    ];
    const found = await database.db
      .selectFrom(batchRows<Named>({ name: "text", size: "integer" }, rows, database.dialect))
      .select(["name", "size"])
      .execute();
    expect(found).toEqual(rows.map(([name, size]) => ({ name, size })));
  });

  it("supports no rows, and thousands of rows in one parameter", async () => {
    const select = (rows: readonly (readonly unknown[])[]) =>
      database.db
        .selectFrom(batchRows<{ size: number }>({ size: "integer" }, rows, database.dialect))
        .select(({ fn }) => [fn.countAll<number>().as("rows"), fn.sum<number>("size").as("sum")])
        .executeTakeFirstOrThrow();
    expect(await select([])).toEqual({ rows: 0, sum: null });
    expect(await select(Array.from({ length: 50_000 }, () => [2]))).toEqual({ rows: 50_000, sum: 100_000 });
  });

  it("reuses a statement with other values", async () => {
    let builds = 0;
    const add = createStatement<{ createdAt: number; rows: string }>((slot, dialect) => {
      builds += 1;
      return sql`
      insert into accounts (app_key, secret_sealed, created_at)
      select name, 'fixed', ${slot("createdAt")}
      from ${batchOf<{ name: string }>({ name: "text" }, slot("rows"), dialect)} where true
      on conflict (app_key) do nothing`;
    });
    const run = (createdAt: number, names: string[]) =>
      add(database.db, database.dialect, { createdAt, rows: JSON.stringify(names.map((name) => [name])) });
    expect(await run(1, ["a", "b"])).toMatchObject({ affectedRows: 2 });
    expect(await run(2, ["b", "c"])).toMatchObject({ affectedRows: 1 });
    expect(builds).toBe(1);
    const found = await database.db.selectFrom("accounts").select(["app_key", "created_at"]).orderBy("id").execute();
    expect(found.map(({ app_key, created_at }) => [app_key, created_at])).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", 2],
    ]);
  });

  it("returns IDs in batch order, also after a join with rows in another order", async () => {
    const names = Array.from({ length: 500 }, (_, at) => `n${(at * 7_919) % 500}`);
    const { db, dialect } = database;
    const insert = (rows: string[], from: RawBuilder<unknown>) => sql`
      insert into accounts (app_key, secret_sealed, created_at)
      select batch.name, 'fixed', 0
      from ${batchRows<{ name: string }>(
        { name: "text" },
        rows.map((name) => [name]),
        dialect,
      )} ${from}
      ${dialect.inBatchOrder}
      on conflict (app_key) do update set secret_sealed = excluded.secret_sealed`;
    await insert(
      names.toSorted().map((name) => `old-${name}`),
      sql`where true`,
    ).execute(db);
    await sql.raw(dialect.name === "postgres" ? "analyze accounts" : "select 1").execute(db);
    await insert(names, sql`cross join accounts as stored where stored.app_key = 'old-' || batch.name`).execute(db);
    const added = db.selectFrom("accounts").select("app_key").where("app_key", "not like", "old-%");
    const found = await added.orderBy("id").execute();
    expect(found.map(({ app_key }) => app_key)).toEqual(names);
  });

  it("sorts text by code point", async () => {
    const names = ["b", "a", "B", "_", "é", "Z", "\u{1f600}", "\u{ff5e}"];
    for (const app_key of names) {
      await database.db.insertInto("accounts").values({ app_key, secret_sealed: "", created_at: 0 }).execute();
    }
    const found = await database.db.selectFrom("accounts").select("app_key").orderBy("app_key").execute();
    expect(found.map(({ app_key }) => app_key)).toEqual(["B", "Z", "_", "a", "b", "é", "\u{ff5e}", "\u{1f600}"]);
  });
});

it("caches prepared statements up to a limit", () => {
  const file = new SqliteFile(":memory:");
  try {
    for (let round = 0; round < 2; round += 1) {
      for (let at = 0; at < 450; at += 1) {
        expect(file.all(`select ${at} as at, ? as given`, [round])).toEqual([{ at, given: round }]);
      }
    }
  } finally {
    file.close();
  }
});
