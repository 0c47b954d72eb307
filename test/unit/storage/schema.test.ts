import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { FileLock } from "../../../src/storage/file-lock.ts";
import { migrations } from "../../../src/storage/migrations/migrations.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { WriteQueue } from "../../../src/storage/write-queue.ts";
import { makeVersion } from "../../support/old-databases.ts";

const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The newest version that has been released; the steps up to here never change. Increase it with each release. */
const newestReleased = 8;

test("released steps of the schema do not change", async () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, at) => at + 1));
  const found: string[] = [];
  const readSchema = async (db: Kysely<never>) => {
    const { rows } = await sql<{ sql: string }>`select sql from sqlite_master where sql is not null
      and tbl_name not in ('starpost_migrations', 'sqlite_sequence') order by name`.execute(db);
    found.push(...rows.map((row) => row.sql));
  };
  await makeVersion(newestReleased, join(folder, "old.db"), readSchema);
  const names = migrations.slice(0, newestReleased).map(({ version, name }) => `${version}: ${name}`);
  expect([...names, ...found].join("\n")).toMatchSnapshot();
});

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
    const startedMs = performance.now();
    expect(FileLock.acquire(path)).toBeUndefined();
    expect(performance.now() - startedMs).toBeLessThan(100);
    expect(FileLock.acquire(path, { waitMs: 150 })).toBeUndefined();
    expect(performance.now() - startedMs).toBeGreaterThan(140);
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

test("a new file has the tables that all migrations create one after another", async () => {
  const readSchema = async (path: string) => {
    const file = new SqliteFile(path);
    const rows = file.all(
      "select sql from sqlite_master where sql is not null and name <> 'starpost_migrations' order by name",
    );
    const versions = file.all("select version, name from starpost_migrations order by version");
    const indexes = file.all("select name from pragma_table_list where type = 'virtual' order by name");
    const settings = indexes.map(({ name }) => file.all(`select * from "${String(name)}_config" order by k`));
    file.close();
    expect(settings.flat()).toContainEqual({ k: "secure-delete", v: 1 });
    return { settings, sql: rows.map((row) => String(row["sql"]).replaceAll(/\s+/g, " ")), versions };
  };
  const [fresh, migrated] = [join(folder, "fresh.db"), join(folder, "migrated.db")];
  await (await openDatabase(fresh, { nowMs: 0 })).db.destroy();
  await makeVersion(migrations.length, migrated, async () => {});
  await (await openDatabase(migrated, { nowMs: 0 })).db.destroy();
  expect(await readSchema(fresh)).toEqual(await readSchema(migrated));
});
