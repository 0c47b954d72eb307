import { setTimeout } from "node:timers/promises";
import type { Transaction } from "kysely";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lockAccount } from "../../../src/storage/account-lock.ts";
import { AccountWrites } from "../../../src/storage/account-writes.ts";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import type { Tables } from "../../../src/storage/tables.ts";
import { addLockable, describeDatabases } from "../../support/databases.ts";

type Open = Transaction<Tables>;

describeDatabases("writes of accounts", (url) => {
  let database: Database;
  let other: Database;
  let accounts: readonly [number, number];
  let events: string[];
  let writes: AccountWrites;

  beforeEach(async () => {
    database = await openDatabase(url(), { nowMs: 0 });
    other = await openDatabase(url(), { nowMs: 0, busyTimeoutMs: 100 });
    accounts = [await addLockable(database, "a"), await addLockable(database, "b")];
    events = [];
    writes = new AccountWrites(database, {
      onLock: ({ accountId, version }) => void events.push(`${accountId === accounts[0] ? "a" : "b"} ${version}`),
      onRollback: () => void events.push("rollback"),
    });
  });

  afterEach(() => Promise.all([database, other].map(({ db }) => db.destroy())));

  const isConcurrent = () => !database.dialect.runsInOrder;

  const insert = (accountId: number, code: string, transaction: Open) =>
    transaction.insertInto("coupons").values({ account_id: accountId, action: "x", code, created_at: 0 }).execute();

  const readCodes = async () => {
    const rows = await database.db.selectFrom("coupons").select("code").orderBy("id").execute();
    return rows.map(({ code }) => code);
  };

  const readVersions = async () => {
    const rows = await database.db.selectFrom("account_versions").select("version").orderBy("account_id").execute();
    return rows.map(({ version }) => version);
  };

  /** Adds a coupon, together with others that wait. Coupons of the same name are not added together. */
  const add = (accountId: number, code: string) =>
    writes.run<string>(
      async (transaction) => {
        await insert(accountId, code, transaction);
        return `${code} alone`;
      },
      {
        accountId,
        combinable: {
          key: "add",
          ids: [code],
          input: code,
          workOnAll: async (codes, transaction) => {
            for (const each of codes) await insert(accountId, String(each), transaction);
            return codes.map((each) => `${String(each)} of ${codes.length}`);
          },
        },
      },
    );

  it("count the transactions of each account, once for all calls that share one", async () => {
    const [a, b] = accounts;
    expect(await readVersions()).toEqual([1, 1]);
    await add(a, "first");
    expect(await readVersions()).toEqual([2, 1]);
    // The queue lets calls that follow immediately share a commit.
    await setTimeout(5);
    const added = await Promise.all([add(a, "1"), add(a, "2"), add(a, "3"), add(b, "4")]);
    // On a server, the first is also combined, because it waits for a connection.
    expect(added).toEqual(
      isConcurrent() ? ["1 of 3", "2 of 3", "3 of 3", "4 alone"] : ["1 alone", "2 of 2", "3 of 2", "4 alone"],
    );
    expect(await readVersions()).toEqual(isConcurrent() ? [3, 2] : [4, 2]);
    expect(events.toSorted()).toEqual(["a 2", "a 3", ...(isConcurrent() ? [] : ["a 4"]), "b 2"]);
  });

  it("combine calls of one account although calls of others arrive in between", async () => {
    const [a, b] = accounts;
    const added = await Promise.all([add(a, "0"), add(b, "0"), add(a, "1"), add(b, "2"), add(a, "3"), add(b, "4")]);
    expect(added).toEqual(
      isConcurrent()
        ? ["0 of 3", "0 of 3", "1 of 3", "2 of 3", "3 of 3", "4 of 3"]
        : ["0 alone", "0 of 3", "1 of 2", "2 of 3", "3 of 2", "4 of 3"],
    );
  });

  it("of one account wait for each other, in any process", async () => {
    const [a] = accounts;
    let isReleased = false;
    const holding = other.db.transaction().execute(async (transaction) => {
      await lockAccount(a, { ...other, transaction });
      await setTimeout(50);
      isReleased = true;
    });
    await setTimeout(10);
    const seen = await writes.run(async () => isReleased, { accountId: a });
    await holding;
    // A server runs the work before it has the lock, but not its statements.
    if (!isConcurrent()) expect(seen).toBe(true);
    expect(await readVersions()).toEqual([3, 1]);
  });

  it("of different accounts wait for each other only in a file", async () => {
    const [a, b] = accounts;
    await other.db.transaction().execute(async (transaction) => {
      await lockAccount(a, { ...other, transaction });
      const own = add(b, "own");
      const without = writes.run((open) => open.selectFrom("accounts").select("id").execute(), {});
      const first = await Promise.race([own, without, setTimeout(300, "waiting")]);
      expect(first === "waiting").toBe(!isConcurrent());
      if (isConcurrent())
        expect(await Promise.all([own, without])).toMatchObject(["own alone", [{ id: a }, { id: b }]]);
      else void Promise.allSettled([own, without]);
    });
    await expect.poll(() => readCodes()).toEqual(["own"]);
  });

  it("take turns, whatever their accounts", async () => {
    const [a, b] = accounts;
    const writing = new AccountWrites({ ...database, maxTransactions: 1 });
    let open = 0;
    const counts: number[] = [];
    const work = async () => {
      counts.push(++open);
      await setTimeout(5);
      open -= 1;
    };
    await Promise.all([a, b, a, b].map((accountId) => writing.run(work, { accountId })));
    expect(counts).toEqual([1, 1, 1, 1]);
  });

  it("fail alone, and keep the changes of the others", async () => {
    const [a, b] = accounts;
    await add(a, "taken");
    const settled = await Promise.allSettled([
      add(a, "0"),
      add(a, "1"),
      add(b, "2"),
      add(a, "taken"),
      add(b, "taken"),
      add(a, "3"),
    ]);
    expect(settled.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect((await readCodes()).toSorted()).toEqual(["0", "1", "2", "3", "taken", "taken"]);
    expect(events).toContain("rollback");
    expect(await readVersions()).toEqual([expect.any(Number), expect.any(Number)]);
  });

  it("have no queue that is left over", async () => {
    const [a, b] = accounts;
    const added = Promise.all([add(a, "1"), add(a, "2"), add(a, "3"), add(b, "4")]);
    expect(writes.length).toBeGreaterThan(0);
    await added;
    expect(writes.length).toBe(0);
    expect(await add(a, "5")).toBe("5 alone");
  });

  it("have no version for an account that does not exist", async () => {
    await database.db.transaction().execute(async (transaction) => {
      expect(await lockAccount(99, { ...database, transaction })).toBeNaN();
      const [a] = accounts;
      const first = await lockAccount(a, { ...database, transaction });
      expect([first, await lockAccount(a, { ...database, transaction })]).toEqual([2, 2]);
    });
    expect(await readVersions()).toEqual([2, 1]);
  });
});
