import { sql } from "kysely";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { describeDatabases } from "../../support/databases.ts";

describeDatabases("statements that run together", (url) => {
  let database: Database;

  beforeEach(async () => {
    database = await openDatabase(url(), { nowMs: 0 });
    await sql`create table notes (text text primary key)`.execute(database.db);
  });

  afterEach(async () => {
    await sql`drop table notes`.execute(database.db);
    await database.db.destroy();
  });

  const readNotes = async () =>
    (await sql<{ text: string }>`select text from notes order by text`.execute(database.db)).rows;

  it("run in order, and a server receives all before it answers the first", async () => {
    const events: string[] = [];
    await database.db.transaction().execute((transaction) => {
      const step = (name: string, statement: ReturnType<typeof sql>) => async () => {
        events.push(`start ${name}`);
        await statement.execute(transaction);
        events.push(`end ${name}`);
      };
      return database.dialect.runAll([
        step("a", sql`insert into notes values ('a')`),
        step("b", sql`insert into notes select text || 'b' from notes`),
        step("c", sql`insert into notes select text || 'c' from notes`),
      ]);
    });
    const names = ["a", "b", "c"];
    const [starts, ends] = [names.map((name) => `start ${name}`), names.map((name) => `end ${name}`)];
    const inTurn = names.flatMap((name) => [`start ${name}`, `end ${name}`]);
    expect(events).toEqual(database.dialect.isPipelined ? [...starts, ...ends] : inTurn);
    expect(await readNotes()).toEqual(["a", "ab", "abc", "ac"].map((text) => ({ text })));
  });

  it("fail with the error of the first that fails, and can be rolled back", async () => {
    const writing = database.db
      .transaction()
      .execute((transaction) =>
        database.dialect.runAll([
          () => sql`insert into notes values ('a')`.execute(transaction),
          () => sql`insert into notes values ('a')`.execute(transaction),
          () => sql`insert into no_table values ('a')`.execute(transaction),
        ]),
      );
    await expect(writing).rejects.toThrow(/unique|UNIQUE|duplicate/);
    expect(await readNotes()).toEqual([]);
    await sql`insert into notes values ('b')`.execute(database.db);
    expect(await readNotes()).toEqual([{ text: "b" }]);
  });

  it("return their results in order", async () => {
    const select = (text: string) => async () =>
      (await sql<{ text: string }>`select ${sql.lit(text)} as text`.execute(database.db)).rows[0]?.text;
    await expect(database.dialect.runAll([select("a"), select("b")])).resolves.toEqual(["a", "b"]);
    await expect(database.dialect.runAll([])).resolves.toEqual([]);
  });
});
