import type { Kysely } from "kysely";
import type { Tables } from "../../../src/storage/tables.ts";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseDatabaseAddress } from "../../../src/storage/address.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { type DatabaseFacts, inspectDatabase } from "../../../src/storage/inspect-database.ts";
import { checkIntegrity } from "../../../src/storage/sqlite/file-copy.ts";
import { newestSchema } from "../../../src/storage/schema/migrate.ts";
import { findLockHolders, parseLock } from "../../../src/storage/sqlite/lock-holders.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { describeDatabases } from "../../support/databases.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const look = { clock: Date.now, busyTimeoutMs: 100 };

async function addAccount(db: Kysely<Tables>, app_key: string, disabled_at: number | null) {
  const values = { app_key, secret_sealed: "sealed", created_at: 1, disabled_at };
  return (await db.insertInto("accounts").values(values).returning("id").executeTakeFirstOrThrow()).id;
}

/** Adds a webhook, and deliveries with one attempt each: when it began, and its problem. */
async function addWebhook(
  db: Kysely<Tables>,
  account_id: number,
  target: string,
  attempts: readonly (readonly [number, string | null])[],
): Promise<void> {
  const values = { account_id, url: target, event_name: "review_create", secret_sealed: "sealed", created_at: 1 };
  const hook = await db.insertInto("webhooks").values(values).returning("id").executeTakeFirstOrThrow();
  for (const [started_at, problem] of attempts) {
    const delivered_at = problem === null ? started_at + 5 : null;
    const state = problem === null ? "delivered" : "failed";
    const event = {
      event_id: `${target}${started_at}`,
      event_name: "review_create",
      body: "{}",
      due_at: 1,
      created_at: 1,
    };
    const delivery = { account_id, webhook_row: hook.id, ...event, state, delivered_at };
    const { id } = await db.insertInto("webhook_deliveries").values(delivery).returning("id").executeTakeFirstOrThrow();
    const attempt = {
      account_id,
      delivery_row: id,
      worker: "w",
      started_at,
      duration_ms: 5,
      status: null,
      problem,
    };
    await db.insertInto("webhook_attempts").values(attempt).execute();
  }
}

describeDatabases("an inspection", (url) => {
  test("reports the schema and the first account", async () => {
    const { db } = await openDatabase(url(), { nowMs: Date.now() });
    expect(await inspectDatabase(url(), look)).toMatchObject({
      facts: { schema: newestSchema, newestSchema, pendingMigrations: [], accounts: 0, account: null },
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
      facts: { accounts: 2, account: { appKey: "first", secretSealed: "sealed", validTokens: 1 } },
    });
    const isServer = url().startsWith("postgres");
    expect(await inspectDatabase(url(), look)).toMatchObject({
      facts: { replication: isServer ? { isReplica: false, lagMs: null } : null, cluster: null },
    });
  });

  test("counts the connections of a server", async () => {
    const { db } = await openDatabase(url(), { nowMs: 0 });
    await db.selectFrom("accounts").select("id").execute();
    const { facts } = (await inspectDatabase(url(), look)) as { facts: DatabaseFacts };
    await db.destroy();
    if (!url().startsWith("postgres")) {
      expect(facts.connections).toBeNull();
      return;
    }
    const { max = 0, used = 0, own = 0 } = facts.connections ?? {};
    expect(own).toBeGreaterThanOrEqual(1);
    // That of the inspection, too.
    expect(used).toBeGreaterThan(own);
    expect(max).toBeGreaterThanOrEqual(used);
  });

  test("reports how deliveries to the webhooks of active accounts have gone", async () => {
    const nowMs = 1_700_000_000_000;
    const { db } = await openDatabase(url(), { nowMs });
    const [first, second] = [await addAccount(db, "first", null), await addAccount(db, "second", null)];
    const ago = (ms: number) => nowMs - ms;
    await addWebhook(db, first, "https://a.example", [
      [ago(1), "no"],
      [ago(2), "no"],
      [ago(86_400_000), "no"],
      [ago(3), null],
    ]);
    await addWebhook(db, first, "https://b.example", []);
    await addWebhook(db, second, "https://c.example", [[ago(86_399_999), "no"]]);
    await addWebhook(db, await addAccount(db, "disabled", 1), "https://d.example", [[ago(1), "no"]]);
    await db.destroy();
    expect(await inspectDatabase(url(), { ...look, clock: () => nowMs })).toMatchObject({
      facts: {
        webhooks: [
          { url: "https://a.example", failures: 2, lastSuccessMs: ago(3) + 5 },
          { url: "https://b.example", failures: 0, lastSuccessMs: null },
          { url: "https://c.example", failures: 1, lastSuccessMs: null },
        ],
      },
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
    expect(checkIntegrity(path)).toEqual([]);
    const { readFileSync } = await import("node:fs");
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4_096, 4_196);
    writeFileSync(path, bytes);
    expect(checkIntegrity(path)).not.toEqual([]);
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
