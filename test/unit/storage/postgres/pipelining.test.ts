import { Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AccountWrites } from "../../../../src/storage/account-writes.ts";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { toStorageError } from "../../../../src/storage/dialects.ts";
import { createDeferredStatement } from "../../../../src/storage/statement.ts";
import { lockAccount } from "../../../../src/storage/account-lock.ts";
import { WriteQueue } from "../../../../src/storage/write-queue.ts";
import { addLockable } from "../../../support/databases.ts";
import { openDelayedPort } from "../../../support/delayed-port.ts";
import {
  execute,
  postgresServer,
  postgresSkipped,
  takeDatabase,
  type TestDatabase,
} from "../../../support/postgres.ts";

const addAccount = createDeferredStatement<{ appKey: string }>(
  (slot) => sql`insert into accounts (app_key, secret_sealed, created_at) values (${slot("appKey")}, 's', 0)`,
);

const endConnection = createDeferredStatement<Record<string, never>>(
  () => sql`do $$ begin perform pg_terminate_backend(pg_backend_pid()); end $$`,
);

describe.skipIf(postgresServer === undefined)("a transaction on PostgreSQL", () => {
  let held: TestDatabase;
  let database: Database;
  const opened: Database[] = [];

  beforeEach(async () => {
    held = await takeDatabase();
    database = await open();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ db }) => db.destroy()));
    await held.drop();
  });

  async function open(busyTimeoutMs?: number): Promise<Database> {
    const found = await openDatabase(held.url, { nowMs: 0, ...(busyTimeoutMs !== undefined && { busyTimeoutMs }) });
    opened.push(found);
    return found;
  }

  const add = (appKey: string, { db, dialect } = database) => addAccount(db, dialect, { appKey });
  const readKeys = async () =>
    (await execute("select app_key from accounts order by id", held.url)).map(({ app_key }) => app_key);
  const problemOf = (error: unknown) => toStorageError(error, "db")?.problem;

  it("commits deferred statements, whose changes its later queries see", async () => {
    const seen = await database.db.transaction().execute(async (db) => {
      await add("a", { ...database, db });
      const { rows } = await sql<{ app_key: string }>`select app_key from accounts`.execute(db);
      await add("b", { ...database, db });
      return rows;
    });
    expect(seen).toEqual([{ app_key: "a" }]);
    expect(await readKeys()).toEqual(["a", "b"]);
  });

  it("sends statements that are started together with one write", async () => {
    const methods = Socket.prototype as unknown as Record<"_write" | "_writev", () => void>;
    const writes = [vi.spyOn(methods, "_write"), vi.spyOn(methods, "_writev")];
    try {
      await sql`select 1`.execute(database.db);
      for (const write of writes) write.mockClear();
      await database.db.transaction().execute(async (db) => {
        const select = async (n: number) => void (await sql`select ${n}::int`.execute(db));
        await database.dialect.runAll([1, 2, 3].map((n) => () => select(n)));
        await add("a", { ...database, db });
        await add("b", { ...database, db });
      });
      expect(writes.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBe(2);
    } finally {
      vi.restoreAllMocks();
    }
    expect(await readKeys()).toEqual(["a", "b"]);
  });

  it("fails at the commit with the error of a deferred statement, and keeps nothing", async () => {
    const writing = database.db.transaction().execute(async (db) => {
      for (const key of ["a", "b", "b", "c"]) await add(key, { ...database, db });
    });
    await expect(writing).rejects.toMatchObject({ code: "23505" });
    expect(await readKeys()).toEqual([]);
    await database.db.transaction().execute((db) => add("d", { ...database, db }));
    expect(await readKeys()).toEqual(["d"]);
  });

  it("fails at a later query with the error of a deferred statement", async () => {
    const writing = database.db.transaction().execute(async (db) => {
      await add("a", { ...database, db });
      await add("a", { ...database, db });
      return sql`select 1`.execute(db).catch((error: unknown) => Promise.reject(Object.assign(new Error(), { error })));
    });
    await expect(writing).rejects.toMatchObject({ error: { code: "23505" } });
    expect(await readKeys()).toEqual([]);
  });

  it("is not committed if its work ignores an error", async () => {
    const writing = database.db.transaction().execute(async (db) => {
      await add("a", { ...database, db });
      await sql`select * from no_table`.execute(db).catch(() => {});
    });
    await expect(writing).rejects.toMatchObject({ code: "42P01" });
    expect(await readKeys()).toEqual([]);
  });

  it("shares a commit with a call whose deferred statement fails, which alone is rolled back", async () => {
    const queue = new WriteQueue(database);
    // The lock keeps the order of writes that are in two transactions.
    const accountId = await addLockable(database);
    const write = (appKey: string) => queue.run((db) => add(appKey, { ...database, db }), { accountId });
    const settled = await Promise.allSettled(["a", "b", "b", "c", "a", "d"].map(write));
    expect(settled.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, false, true]);
    expect(settled[2]).toMatchObject({ reason: { code: "23505" } });
    expect(await readKeys()).toEqual(["locked", "a", "b", "c", "d"]);
  });

  it("has an unknown outcome if the connection is lost after the commit was sent, and the next one runs", async () => {
    const queue = new WriteQueue(database);
    const lost = queue.run(async (db) => {
      await add("lost", { ...database, db });
      await endConnection(db, database.dialect, {});
    });
    // Waits for the next transaction.
    const kept = setImmediate().then(() => queue.run((db) => add("kept", { ...database, db })));
    expect(await lost.catch(problemOf)).toBe("unsure");
    await kept;
    expect(await readKeys()).toEqual(["kept"]);
  });

  it("has not happened if the connection is lost before the commit is sent", async () => {
    const writing = database.db.transaction().execute(async (db) => {
      await add("lost", { ...database, db });
      await endConnection(db, database.dialect, {});
      await sql`select 1`.execute(db);
    });
    expect(await writing.catch(problemOf)).toBe("unreachable");
    expect(await readKeys()).toEqual([]);
  });

  it.each<[string, (own: Database) => Promise<unknown>]>([
    ["query", ({ db }) => sql`select 1`.execute(db)],
    [
      "change",
      ({ db }) => sql`insert into accounts (app_key, secret_sealed, created_at) values ('x', 's', 0)`.execute(db),
    ],
    ["deferred change", (own) => add("x", own)],
    ["nothing", async () => {}],
  ])(
    "that cannot lock its account fails as busy at its first statement (%s), and writes nothing",
    async (_name, work) => {
      const waiting = await open(30);
      const id = await addLockable(database);
      await database.db.transaction().execute(async (transaction) => {
        await lockAccount(id, { ...database, transaction });
        const writing = waiting.db.transaction().execute((db) => {
          void lockAccount(id, { ...waiting, transaction: db });
          return work({ ...waiting, db });
        });
        expect(await writing.catch(problemOf)).toBe("busy");
      });
      expect(await readKeys()).toEqual(["locked"]);
      await add("y", waiting);
      expect(await readKeys()).toEqual(["locked", "y"]);
    },
  );

  it("reads what the previous write of the queue has committed", async () => {
    const accountId = await addLockable(database);
    const queue = new WriteQueue(database);
    const counts = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        queue.run(
          async (db) => {
            const { rows } = await sql<{ count: number }>`select count(*) as count from accounts`.execute(db);
            await add(`n${at}`, { ...database, db });
            // Each gets its own transaction, because the one before was slow.
            if (at < 3) await setTimeout(25);
            return rows[0]?.count;
          },
          { accountId },
        ),
      ),
    );
    expect(counts).toEqual(counts.map((_, at) => at + 1));
  });

  it("is not preceded by one of whose failure the process does not know yet", async () => {
    await execute(
      `create function fail() returns trigger language plpgsql as $$ begin
        perform pg_sleep(0.1); raise exception 'full' using errcode = '53100'; end $$;
      create constraint trigger fail after insert on coupons deferrable initially deferred
        for each row when (new.code = 'fail') execute function fail()`,
      held.url,
    );
    const { hostname: host, port } = new URL(held.url);
    const network = await openDelayedPort({ host, port: Number(port), delayMs: 5 });
    const slowUrl = Object.assign(new URL(held.url), { host: `127.0.0.1:${network.port}` });
    const slow = await openDatabase(slowUrl.href, { nowMs: 0 });
    const accountId = await addLockable(slow);
    const events: string[] = [];
    const writes = new AccountWrites(slow, {
      onLock: ({ version }) => void events.push(`lock ${version}`),
      onRollback: () => void events.push("rollback"),
    });
    const addCoupon = (code: string) =>
      writes.run(
        (transaction) =>
          transaction
            .insertInto("coupons")
            .values({ account_id: accountId, action: "x", code, created_at: 0 })
            .execute(),
        { accountId },
      );
    const failing = addCoupon("fail");
    // The queue is empty while the first one commits.
    await setTimeout(60);
    const [first, second] = await Promise.allSettled([failing, addCoupon("next")]);
    await slow.db.destroy();
    network.server.close();
    expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
    expect(events).toEqual(["lock 2", "rollback", "lock 2"]);
  });
});

if (postgresServer === undefined) it.skip(`transactions on ${postgresSkipped}`);
