import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { lockAccount } from "../../../src/storage/account-lock.ts";
import { WriteQueue } from "../../../src/storage/write-queue.ts";
import { addLockable, describeDatabases } from "../../support/databases.ts";

const nowMs = Date.UTC(2026, 2, 15);

async function readKeys({ db }: Database): Promise<string[]> {
  const found = await db.selectFrom("accounts").select("app_key").orderBy("app_key").execute();
  return found.map(({ app_key }) => app_key);
}

function add({ db }: Pick<Database, "db">, app_key: string) {
  return db.insertInto("accounts").values({ app_key, secret_sealed: "", created_at: nowMs }).execute();
}

describeDatabases("a rehearsal", (url) => {
  const open = (options: { isRehearsal?: boolean; busyTimeoutMs?: number } = {}) =>
    openDatabase(url(), { nowMs, ...options });

  it("reads its own writes and rolls them back", async () => {
    const earnest = await open();
    await add(earnest, "before");
    const rehearsal = await open({ isRehearsal: true });
    await rehearsal.db.transaction().execute((db) => add({ db }, "rehearsed"));
    await add(rehearsal, "rehearsed without a transaction");
    const read = () =>
      rehearsal.db
        .transaction()
        .setAccessMode("read only")
        .execute((db) => readKeys({ ...rehearsal, db }));
    expect(await read()).toEqual(["before", "rehearsed", "rehearsed without a transaction"]);
    expect(await readKeys(earnest)).toEqual(["before"]);
    await rehearsal.db.destroy();
    expect(await readKeys(earnest)).toEqual(["before"]);
    await earnest.db.destroy();
  });

  it("rolls back a failed call alone, even among calls that share a commit", async () => {
    const rehearsal = await open({ isRehearsal: true });
    const writes = new WriteQueue(rehearsal);
    const fail = async (db: Database["db"]) => {
      await add({ db }, "failed");
      // Uses a key twice, so that the database rejects the statement.
      await add({ db }, "failed");
    };
    await expect(writes.run(fail)).rejects.toThrow();
    const outcomes = await Promise.allSettled([
      writes.run((db) => add({ db }, "first")),
      writes.run(fail),
      writes.run((db) => add({ db }, "second")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await readKeys(rehearsal)).toEqual(["first", "second"]);
    await rehearsal.db.destroy();
  });

  it("blocks other writers until it is closed, with a temporary error", async () => {
    const other = await open({ busyTimeoutMs: 50 });
    const id = await addLockable(other);
    const rehearsal = await open({ isRehearsal: true });
    const lock = (database: Database) =>
      database.db.transaction().execute((transaction) => lockAccount(id, { transaction, dialect: database.dialect }));
    await lock(rehearsal);
    const write = () => lock(other);
    await expect(write()).rejects.toThrow(/locked|lock timeout/);
    await rehearsal.db.destroy();
    await write();
    const second = await open({ isRehearsal: true });
    await lock(second);
    await expect(write()).rejects.toThrow(/locked|lock timeout/);
    await second.db.destroy();
    await other.db.destroy();
  });

  it("ends after the call in flight, which is rolled back as well", async () => {
    const rehearsal = await open({ isRehearsal: true });
    let isBegun = () => {};
    const begun = new Promise<void>((resolve) => (isBegun = resolve));
    const call = rehearsal.db.transaction().execute(async (db) => {
      await add({ db }, "one");
      isBegun();
      await new Promise((resolve) => setTimeout(resolve, 50));
      await add({ db }, "two");
    });
    await begun;
    const late = add(rehearsal, "late").catch((error: unknown) => String(error));
    await rehearsal.db.destroy();
    await call;
    expect(await late).toContain("the rehearsal is closed");
    const earnest = await open();
    expect(await readKeys(earnest)).toEqual([]);
    await earnest.db.destroy();
  });
});

it("on a full disk writes nothing more, even in a call that continues after its failure", async () => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-rehearsed-"));
  try {
    const path = join(folder, "test.db");
    const rehearsal = await openDatabase(path, { nowMs, isRehearsal: true });
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(rehearsal.db);
    await sql.raw(`pragma max_page_count = ${Number(rows[0]?.page_count) + 1}`).execute(rehearsal.db);
    const call = rehearsal.db.transaction().execute(async (db) => {
      await expect(add({ db }, "x".repeat(50_000))).rejects.toThrow(/full/);
      await add({ db }, "after");
    });
    await expect(call).rejects.toMatchObject({ problem: "full" });
    await expect(add(rehearsal, "later")).rejects.toMatchObject({ problem: "full" });
    await rehearsal.db.destroy();
    const earnest = await openDatabase(path, { nowMs });
    expect(await readKeys(earnest)).toEqual([]);
    await earnest.db.destroy();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
