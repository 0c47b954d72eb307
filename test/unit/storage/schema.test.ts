import { statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { FileLock } from "../../../src/storage/file-lock.ts";
import { WriteQueue } from "../../../src/storage/write-queue.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

describe("a file lock", () => {
  const path = join(folder, "deep", "lock");

  test("is held by one at a time, until it is released or closed", () => {
    const first = FileLock.acquire(path) ?? expect.unreachable();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(FileLock.acquire(path)).toBeUndefined();
    first.release();
    const second = FileLock.acquire(path) ?? expect.unreachable();
    expect(first.take()).toBe(false);
    second.close();
    expect(first.take()).toBe(true);
    first[Symbol.dispose]();
    using third = new FileLock(path);
    expect(third.take()).toBe(true);
  });

  test("is waited for as long as requested", () => {
    using held = FileLock.acquire(path);
    expect(held).toBeDefined();
    const timeOf = (options?: { waitMs: number }) => {
      const startedMs = performance.now();
      expect(FileLock.acquire(path, options)).toBeUndefined();
      return performance.now() - startedMs;
    };
    expect(Math.min(timeOf(), timeOf(), timeOf())).toBeLessThan(100);
    expect(timeOf({ waitMs: 150 })).toBeGreaterThan(140);
  });

  test("fails if its file cannot be one", () => {
    expect(() => FileLock.acquire(folder)).toThrow();
  });
});

describe("a queue of writes", () => {
  let database: Database;
  let queue: WriteQueue;
  beforeEach(async () => {
    // A transaction that takes long shares its commit with fewer writes.
    vi.spyOn(performance, "now").mockReturnValue(0);
    database = await openDatabase(join(folder, `${Math.random()}.db`), { nowMs: 0 });
    queue = new WriteQueue(database);
  });
  afterEach(() => database.db.destroy());

  const add = (app_key: string, error?: Error) =>
    queue.run(async (transaction) => {
      const row = { app_key, secret_sealed: "", created_at: 0 };
      await transaction.insertInto("accounts").values(row).execute();
      if (error) throw error;
      return app_key;
    });
  const stored = async () => {
    const rows = await database.db.selectFrom("accounts").select("app_key").orderBy("id").execute();
    return rows.map(({ app_key }) => app_key);
  };

  test("runs all writes in order and returns their results", async () => {
    const names = Array.from({ length: 40 }, (_, at) => `a${at}`);
    expect(await Promise.all(names.map((name) => add(name)))).toEqual(names);
    expect(await stored()).toEqual(names);
    expect(await add("later")).toBe("later");
  });

  test("rolls back only the writes that fail", async () => {
    const error = new Error("no");
    const results = await Promise.allSettled([add("a"), add("b", error), add("c"), add("d", error), add("e")]);
    expect(results.map((result) => (result.status === "fulfilled" ? result.value : result.reason))).toEqual([
      "a",
      error,
      "c",
      error,
      "e",
    ]);
    expect(await stored()).toEqual(["a", "c", "e"]);
    await expect(add("f", error)).rejects.toBe(error);
    expect(await stored()).toEqual(["a", "c", "e"]);
  });

  test("shares a commit among the writes that wait", async () => {
    const versions: number[] = [];
    const note = () =>
      queue.run(async (transaction) => {
        const { rows } = await sql<{ changes: number }>`select total_changes() as changes`.execute(transaction);
        await sql`insert into accounts (app_key, secret_sealed, created_at) values (${`k${versions.length}`}, '', 0)`.execute(
          transaction,
        );
        versions.push(rows[0]?.changes ?? 0);
        const savepoint = await sql`release shared_call`.execute(transaction).then(
          () => sql`savepoint shared_call`.execute(transaction).then(() => true),
          () => false,
        );
        return savepoint;
      });
    // The first write does not wait, so it has a commit of its own.
    expect(await Promise.all([note(), note(), note()])).toEqual([false, true, true]);
  });

  test("fails the started writes of a commit that fails, and runs the others in the next one", async () => {
    const end = () => queue.run(async (transaction) => sql`rollback`.execute(transaction));
    const results = await Promise.allSettled([add("a"), add("b"), end(), add("c")]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(await stored()).toEqual(["a", "c"]);
  });
});
