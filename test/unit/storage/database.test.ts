import { access, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { migrations } from "../../../src/storage/schema/migrations.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";

let folder: string;
let path: string;
let opened: Database[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  path = join(folder, "starpost.db");
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map(({ db }) => db.destroy()));
  await rm(folder, { recursive: true });
});

async function open(url = path, busyTimeoutMs?: number): Promise<Database> {
  const database = await openDatabase(url, { nowMs: 7, ...(busyTimeoutMs !== undefined && { busyTimeoutMs }) });
  opened.push(database);
  return database;
}

function inFile<R>(use: (file: SqliteFile) => R): R {
  const file = new SqliteFile(path);
  try {
    return use(file);
  } finally {
    file.close();
  }
}

const account = (app_key: string) => ({ app_key, secret_sealed: "s", created_at: 0 });

it("creates the file and its folder, readable only by their owner", async () => {
  path = join(folder, "deep", "er", "starpost.db");
  await open();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, "deep", "er"))).mode & 0o777).toBe(0o700);
});

it.each([
  ["a path", (file: string) => file],
  ["sqlite:", (file: string) => `sqlite:${file}`],
  ["sqlite://", (file: string) => pathToFileURL(file).href.replace(/^file:/, "sqlite:")],
])("opens %s", async (_form, toUrl) => {
  path = join(folder, "a b.db");
  const { shownAs } = await open(toUrl(path));
  expect(shownAs).toBe(path);
  await access(path);
});

it("uses a write-ahead log, syncs each commit, and enforces foreign keys", async () => {
  const { db } = await open();
  const file = inFile((other) => other.all("pragma journal_mode"));
  expect(file).toEqual([{ journal_mode: "wal" }]);
  const orphan = { account_id: 99, platform_type_id: 1, shop_domain: "a", shop_token: "t", updated_at: 0 };
  await expect(db.insertInto("account_platforms").values(orphan).execute()).rejects.toThrow(/FOREIGN KEY/);
});

it("applies and records every migration once", async () => {
  await (await open()).db.destroy();
  await open();
  const recorded = inFile((file) => file.all("select version, name, applied_at from starpost_migrations"));
  expect(recorded).toEqual(migrations.map(({ version, name }) => ({ version, name, applied_at: 7 })));
});

it("migrates once if several connections open a new file concurrently", async () => {
  await Promise.all([open(), open(), open()]);
  expect(inFile((file) => file.all("select version from starpost_migrations"))).toHaveLength(migrations.length);
});

it("waits while another connection sets up a new file, at most as long as configured", async () => {
  const other = new SqliteFile(path);
  other.executeNow("begin immediate");
  await expect(open(path, 20)).rejects.toMatchObject({ problem: "busy" });
  const opening = open();
  await setTimeout(20);
  other.execute("rollback");
  other.close();
  expect((await opening).shownAs).toBe(path);
});

it("rejects a database of a newer version without changing it", async () => {
  await (await open()).db.destroy();
  inFile((file) => file.execute("insert into starpost_migrations values (999, 'later', 0)"));
  await expect(open()).rejects.toMatchObject({
    name: "StorageError",
    problem: "notOurs",
    message: expect.stringMatching(/\bschema 999\b/) as string,
  });
});

it("rejects another application's SQLite database without changing it", async () => {
  inFile((file) => file.execute("create table theirs (a)"));
  await expect(open()).rejects.toMatchObject({ problem: "notOurs", message: expect.stringContaining(path) as string });
  expect(inFile((file) => file.all("select name from sqlite_master"))).toEqual([{ name: "theirs" }]);
});

it("rejects a file that is not a database, a folder, and an unsupported URL", async () => {
  await writeFile(path, "order_id,email\n".repeat(100));
  await expect(open()).rejects.toMatchObject({ problem: "notOurs", message: expect.stringContaining(path) as string });
  await mkdir(join(folder, "dir"));
  await expect(open(join(folder, "dir"))).rejects.toMatchObject({ problem: "cannotOpen" });
  await expect(open("mysql://user:secret@host/db")).rejects.toMatchObject({
    problem: "cannotOpen",
    message: expect.not.stringContaining("secret"),
  });
});

it("lets two connections to one file write in turn", async () => {
  const [one, other] = [await open(), await open()];
  const write = ({ db }: Database, name: string) =>
    Promise.all(
      Array.from({ length: 25 }, (_, at) =>
        db.transaction().execute((transaction) =>
          transaction
            .insertInto("accounts")
            .values(account(`${name}${at}`))
            .execute(),
        ),
      ),
    );
  await Promise.all([write(one, "a"), write(other, "b")]);
  expect(await one.db.selectFrom("accounts").select("id").execute()).toHaveLength(50);
});

it("reports a write lock that is held too long, and reads meanwhile", async () => {
  const waiting = await open(path, 20);
  inFile((file) => file.execute("pragma user_version = 0"));
  const holder = new SqliteFile(path);
  holder.execute("begin immediate");
  const write = waiting.db.transaction().execute(async () => undefined);
  await expect(write).rejects.toMatchObject({ errcode: 5 });
  expect(await waiting.db.selectFrom("accounts").select("id").execute()).toEqual([]);
  holder.close();
});

it("rolls back a failed transaction completely", async () => {
  const { db } = await open();
  const failing = db.transaction().execute(async (transaction) => {
    await transaction.insertInto("accounts").values(account("a")).execute();
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await db.selectFrom("accounts").select("id").execute()).toEqual([]);
});

it("truncates the write-ahead log when closed", async () => {
  const { db } = await open();
  await db.insertInto("accounts").values(account("a")).execute();
  expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
  await db.destroy();
  expect((await stat(`${path}-wal`)).size).toBe(0);
  const { db: again } = await open();
  expect(await again.selectFrom("accounts").select("app_key").execute()).toEqual([{ app_key: "a" }]);
});

it("does not wait to truncate the log while another connection reads", async () => {
  const [{ db }, { db: other }] = [await open(), await open()];
  await db.insertInto("accounts").values(account("a")).execute();
  await other
    .transaction()
    .setAccessMode("read only")
    .execute(async (reading) => {
      expect(await reading.selectFrom("accounts").select("app_key").execute()).toHaveLength(1);
      await db.destroy();
      expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
      expect(await reading.selectFrom("accounts").select("app_key").execute()).toHaveLength(1);
    });
});
