import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteDriver } from "../../../src/storage/sqlite/driver.ts";
import { SqliteFile, type SqliteFileOptions } from "../../../src/storage/sqlite/sqlite-file.ts";

let folder: string;
let path: string;
let opened: Kysely<unknown>[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
  path = join(folder, "starpost.db");
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((db) => db.destroy()));
  rmSync(folder, { recursive: true });
});

function open(options: SqliteFileOptions = {}, at = path): Kysely<unknown> {
  const db = new Kysely<unknown>({ dialect: createSqliteDriver(at, options) });
  opened.push(db);
  return db;
}

async function openWithTable(at = path): Promise<Kysely<unknown>> {
  const db = open({}, at);
  await sql`create table notes (text text)`.execute(db);
  return db;
}

const write = (db: Kysely<unknown>, before = () => {}) =>
  db.transaction().execute(async (transaction) => {
    await sql`insert into notes values ('a')`.execute(transaction);
    before();
  });
const count = async (db: Kysely<unknown>) => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from notes`.execute(db);
  return rows[0]?.n;
};

test.each([
  ["the database", ""],
  ["its log", "-wal"],
  ["the index of its log", "-shm"],
])("a write is refused after %s was deleted", async (_what, suffix) => {
  const db = await openWithTable();
  await write(db);
  rmSync(path + suffix);
  await expect(write(db)).rejects.toMatchObject({ code: "ERR_DATABASE_DELETED" });
  expect(await count(db)).toBe(1);
  // The next one is refused as well: the transaction was rolled back.
  await expect(write(db)).rejects.toMatchObject({ code: "ERR_DATABASE_DELETED" });
});

test("a write is refused after the database was replaced", async () => {
  const db = await openWithTable();
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
  await expect(write(db)).rejects.toMatchObject({ code: "ERR_DATABASE_DELETED" });
});

test("a commit is in doubt if the database was deleted before it", async () => {
  const db = await openWithTable();
  await write(db);
  await expect(write(db, () => rmSync(path))).rejects.toMatchObject({ code: "ERR_DATABASE_DELETED_IN_COMMIT" });
});

test("a read is not refused", async () => {
  const db = await openWithTable();
  await write(db);
  rmSync(path);
  const read = db
    .transaction()
    .setAccessMode("read only")
    .execute((transaction) => count(transaction as never));
  expect(await read).toBe(1);
});

test("a database in memory has no files", async () => {
  const db = await openWithTable(":memory:");
  await write(db);
  await write(db);
  expect(await count(db)).toBe(2);
});

test("a database that is opened for reading stays as it is", async () => {
  const inFile = <R>(use: (file: SqliteFile) => R): R => {
    const file = new SqliteFile(path);
    try {
      return use(file);
    } finally {
      file.close();
    }
  };
  inFile((file) => file.execute("pragma journal_mode = delete; create table notes (text text)"));
  const db = open({ isReadOnly: true });
  expect(await count(db)).toBe(0);
  await expect(write(db)).rejects.toThrow(/readonly/);
  await db.destroy();
  expect(inFile((file) => file.all("pragma journal_mode"))).toEqual([{ journal_mode: "delete" }]);
});
