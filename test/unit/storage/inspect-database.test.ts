import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseDatabaseAddress } from "../../../src/storage/address.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { checkIntegrity, inspectDatabase } from "../../../src/storage/inspect-database.ts";
import { newestSchema } from "../../../src/storage/migrations/migrate.ts";
import { findLockHolders, parseLock } from "../../../src/storage/sqlite/lock-holders.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { describeDatabases } from "../../support/databases.ts";

const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const look = { clock: Date.now, busyTimeoutMs: 100 };

describeDatabases("an inspection", (url) => {
  test("reports the schema and the first account", async () => {
    const { db } = await openDatabase(url(), { nowMs: Date.now() });
    expect(await inspectDatabase(url(), look)).toMatchObject({
      facts: { schema: newestSchema, newestSchema, account: null },
    });
    const owner = { app_key: "first", secret_sealed: "sealed", created_at: 1 };
    const { id } = await db.insertInto("accounts").values(owner).returning("id").executeTakeFirstOrThrow();
    await db
      .insertInto("accounts")
      .values({ ...owner, app_key: "second" })
      .execute();
    for (const [at, expires_at] of [Date.now() - 1_000, Date.now() + 60_000].entries()) {
      await db
        .insertInto("utokens")
        .values({ account_id: id, token_hash: `hash${at}`, created_at: 1, expires_at })
        .execute();
    }
    await db.destroy();
    expect(await inspectDatabase(url(), look)).toMatchObject({
      facts: { account: { appKey: "first", secretSealed: "sealed", validTokens: 1 } },
    });
  });
});

describe("an inspection of a file", () => {
  test("creates nothing if there is none", async () => {
    expect(await inspectDatabase(join(folder, "none.db"), look)).toMatchObject({
      failure: { message: expect.any(String) },
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("tells an empty database from a file that is none", async () => {
    const empty = new SqliteFile(join(folder, "empty.db"));
    empty.execute("create table other (a)");
    empty.close();
    expect(await inspectDatabase(join(folder, "empty.db"), look)).toMatchObject({
      facts: { schema: null, account: null, tables: 1 },
    });
    writeFileSync(join(folder, "text.db"), "no database, ".repeat(500));
    const { failure } = (await inspectDatabase(join(folder, "text.db"), look)) as { failure: { problem: string } };
    expect(failure.problem).not.toBe("bug");
    expect(await inspectDatabase("mysql://host/db", look)).toMatchObject({ failure: { message: expect.any(String) } });
  });

  test("checks every page", async () => {
    const path = join(folder, "damaged.db");
    const file = new SqliteFile(path);
    file.execute(
      "create table a (b); insert into a select zeroblob(3000) from (select 1 union select 2 union select 3)",
    );
    file.close();
    expect(await checkIntegrity(path)).toEqual([]);
    const { readFileSync } = await import("node:fs");
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4_096, 4_196);
    writeFileSync(path, bytes);
    expect(await checkIntegrity(path)).not.toEqual([]);
  });
});

describe("lock holders", () => {
  test.skipIf(process.platform !== "linux")(
    "name the process that has the file open, and the one that writes",
    async () => {
      const path = join(folder, "held.db");
      const file = new SqliteFile(path);
      file.execute("pragma journal_mode = wal; create table a (b)");
      const idle = await findLockHolders(path);
      expect(idle?.writer).toBeUndefined();
      file.execute("begin immediate");
      const busy = await findLockHolders(path);
      file.execute("rollback");
      file.close();
      expect(busy?.open.map(({ pid }) => pid)).toContain(process.pid);
      expect(busy?.writer?.pid).toBe(process.pid);
      expect(busy?.writer?.name.length).toBeLessThanOrEqual(60);
      expect(await findLockHolders(join(folder, "none.db"))).toBeUndefined();
    },
  );
});

const wholeFile = { isWrite: false, pid: 4711, inode: "393217", from: 0, to: Number.POSITIVE_INFINITY };
test.each([
  ["1: POSIX  ADVISORY  READ 4711 08:01:393217 0 EOF", [wholeFile]],
  ["12: OFDLCK ADVISORY  WRITE 4711 08:01:393217 120 127", [{ ...wholeFile, isWrite: true, from: 120, to: 127 }]],
  ["1: POSIX  ADVISORY  WRITE 0 08:01:393217 0 EOF", []],
  ["1: POSIX  ADVISORY  WRITE -1 08:01:393217 0 EOF", []],
  ["1: -> POSIX  ADVISORY  WRITE 4711 08:01:393217 0 EOF", []],
  ["1: POSIX  ADVISORY  WRITE 4711 08:01:393217", []],
  ["1: POSIX  ADVISORY  WRITE 4711", []],
  ["", []],
])("the lock %j is %j", (line, locks) => {
  expect(parseLock(line)).toEqual(locks);
});

describe("an address", () => {
  test.each([
    ["shop.db", { dialect: "sqlite", location: "shop.db", isFile: true }],
    ["C:\\data\\shop.db", { dialect: "sqlite", location: "C:\\data\\shop.db" }],
    ["sqlite:shop.db", { dialect: "sqlite", location: "shop.db" }],
    ["SQLITE:///var/shop.db", { dialect: "sqlite", location: "/var/shop.db" }],
    [
      "postgres://me:s%40cret@db.example:5433/shop",
      { dialect: "postgres", isFile: false, shownAs: "postgres://me@db.example:5433/shop" },
    ],
    [
      "postgresql://db.example/shop",
      { dialect: "postgres", shownAs: "postgresql://db.example/shop".replace("postgresql", "postgres") },
    ],
  ])("%s is understood", (text, expected) => {
    expect(parseDatabaseAddress(text)).toMatchObject(expected);
  });

  test.each([
    "mysql://db.example/shop",
    "postgres://",
    "postgres://db.example",
    "postgres://me:a@b/c@db.example/shop",
    "postgres://me:100%@db.example/shop",
    "postgres://db.example/shop#part",
    "postgres://db.example/a/b",
  ])("%s is refused", (text) => {
    expect(() => parseDatabaseAddress(text)).toThrow(expect.objectContaining({ name: "AddressError" }));
  });
});
