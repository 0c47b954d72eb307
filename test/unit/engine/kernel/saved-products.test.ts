import { afterEach, beforeEach, expect, it } from "vitest";
import { SavedProducts } from "../../../../src/engine/kernel/saved-products.ts";
import { lockAccount } from "../../../../src/storage/account-lock.ts";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { addLockable, describeDatabases } from "../../../support/databases.ts";

describeDatabases("saved products", (url) => {
  let database: Database;
  let a: number;
  let b: number;
  let saved: SavedProducts;

  beforeEach(async () => {
    database = await openDatabase(url(), { nowMs: 0 });
    [a, b] = [await addLockable(database, "a"), await addLockable(database, "b")];
    saved = new SavedProducts();
  });

  afterEach(() => database.db.destroy());

  type Product = readonly [string, string | null];

  /** Saves products in a transaction. Returns the IDs of those that may change something. */
  const save = (accountId: number, ...products: readonly Product[]) =>
    database.db.transaction().execute(async (transaction) => {
      const context = { transaction, dialect: database.dialect, accountId };
      return (await saved.takeChanged(products, context)).map(([id]) => id);
    });

  /** A transaction that saves no products, of this process or another one. */
  const change = (accountId: number, isOwn: boolean) =>
    database.db.transaction().execute(async (transaction) => {
      const version = await lockAccount(accountId, { ...database, transaction });
      if (isOwn) saved.note(accountId, version);
    });

  it("are those of each account that this process has not saved yet", async () => {
    expect(await save(a, ["1", "x"], ["2", null], ["1", "x"])).toEqual(["1", "2"]);
    expect(await save(a, ["1", "x"], ["2", null])).toEqual([]);
    expect(await save(a, ["1", "y"], ["2", "z"])).toEqual(["1", "2"]);
    expect(await save(b, ["1", "y"])).toEqual(["1"]);
    expect(await save(a, ["1", "y"], ["2", "z"])).toEqual([]);
    expect(await save(b, ["1", "y"])).toEqual([]);
  });

  it("are forgotten when another process has changed the account, and only then", async () => {
    await save(a, ["1", "x"]);
    await save(b, ["1", "x"]);
    await change(a, true);
    expect(await save(a, ["1", "x"])).toEqual([]);
    await change(a, false);
    expect(await save(b, ["1", "x"])).toEqual([]);
    expect(await save(a, ["1", "x"])).toEqual(["1"]);
    await change(a, false);
    await change(a, true);
    expect(await save(a, ["1", "x"])).toEqual(["1"]);
  });

  it("are forgotten when a call fails", async () => {
    await save(a, ["1", "x"]);
    saved.clear();
    expect(await save(a, ["1", "x"])).toEqual(["1"]);
  });

  it("are remembered if there are 200,000, except for a third", async () => {
    const many = Array.from({ length: 200_000 }, (_, at): Product => [`p${at}`, `Chair ${at % 7}`]);
    const context = { dialect: database.dialect, accountId: a };
    await database.db.transaction().execute(async (transaction) => {
      expect(await saved.takeChanged(many, { ...context, transaction })).toHaveLength(many.length);
      expect((await saved.takeChanged(many, { ...context, transaction })).length).toBeLessThan(70_000);
    });
  });

  it("never seem to be saved if any column differs", async () => {
    const columns = [null, "", "a", "b", "ab", "ba", "aab", "\u0000", "ä", "0", "00"];
    const rows = columns.flatMap((first) => columns.map((second) => ["1", first, second] as const));
    const context = { dialect: database.dialect, accountId: a };
    await database.db.transaction().execute(async (transaction) => {
      for (const row of rows) {
        expect(await saved.takeChanged([row], { ...context, transaction })).toEqual([row]);
        expect(await saved.takeChanged([row], { ...context, transaction })).toEqual([]);
      }
      const changing = Array.from({ length: 100_000 }, (_, at): Product => ["2", `Chair ${at % 1_000} of ${at}`]);
      expect(await saved.takeChanged(changing, { ...context, transaction })).toHaveLength(changing.length);
    });
  });
});
