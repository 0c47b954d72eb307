import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ensureFirstAccount } from "../../../../src/engine/accounts/first-account.ts";
import { readAccountSettings } from "../../../../src/engine/accounts/platform.ts";
import { createSealer } from "../../../../src/engine/kernel/sealer.ts";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { describeDatabases } from "../../../support/databases.ts";

const making = { sealer: createSealer(randomBytes(32)), clock: () => 5, random: randomBytes };

describeDatabases("the first account", (url) => {
  let opened: Database[];

  beforeEach(() => {
    opened = [];
  });

  afterEach(() => Promise.all(opened.map(({ db }) => db.destroy())));

  async function open(): Promise<Database> {
    const database = await openDatabase(url(), { nowMs: 0 });
    opened.push(database);
    return database;
  }

  it("creates an account once, and returns it afterward", async () => {
    const database = await open();
    const made = await ensureFirstAccount(database, making);
    expect(made).toMatchObject({ appKey: expect.any(String), secret: expect.any(String) });
    expect(await ensureFirstAccount(database, making)).toMatchObject({ appKey: made.appKey, secret: made.secret });
    expect(await database.db.selectFrom("accounts").select("created_at").execute()).toEqual([{ created_at: 5 }]);
  });

  it.each([
    ["the given delay of bottom lines", 7, 7],
    ["no delay of bottom lines", 0, 0],
    ["the specified delay of bottom lines", undefined, 3_600],
  ])("starts with %s", async (_, bottomLinesDelay, expected) => {
    const database = await open();
    await ensureFirstAccount(database, { ...making, bottomLinesDelay });
    const account = await database.db.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
    const { settings } = await database.db
      .transaction()
      .execute((transaction) => readAccountSettings({ transaction, dialect: database.dialect }, account.id));
    expect(settings.bottom_lines_delay).toBe(expected);
    // A later command does not change it.
    await ensureFirstAccount(database, { ...making, bottomLinesDelay: 9 });
    const rows = await database.db.selectFrom("account_settings").select(["name", "value"]).execute();
    expect(rows.filter(({ value }) => value === "9")).toEqual([]);
  });

  it("returns the same account to concurrent callers", async () => {
    const databases = [await open(), await open()];
    const made = await Promise.all(databases.map((database) => ensureFirstAccount(database, making)));
    expect(made[0]?.appKey).toBe(made[1]?.appKey);
  });

  it("returns the account with the lowest ID", async () => {
    const database = await open();
    const made = await ensureFirstAccount(database, making);
    const values = { app_key: "A", secret_sealed: making.sealer.seal("s"), created_at: 0 };
    await database.db.insertInto("accounts").values(values).execute();
    expect(await ensureFirstAccount(database, making)).toMatchObject({ appKey: made.appKey });
  });

  it("reports a different sealing key", async () => {
    const database = await open();
    await ensureFirstAccount(database, making);
    const other = { ...making, sealer: createSealer(randomBytes(32)) };
    await expect(ensureFirstAccount(database, other)).rejects.toMatchObject({ kind: "storageFailed" });
  });
});
