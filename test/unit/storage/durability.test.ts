import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { expect, it, onTestFinished, vi } from "vitest";
import { createLocalTransport } from "../../../src/engine/local-transport.ts";
import { createSealer } from "../../../src/engine/kernel/sealer.ts";
import { KeyStore } from "../../../src/import/run/key-store.ts";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { sqlite } from "../../../src/storage/sqlite/dialect.ts";
import { LogFile, LogNotWrittenError } from "../../../src/storage/sqlite/log-file.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { placeOnPostgres, placeOnSqlite } from "../../support/databases.ts";
import { execute, postgresServer, postgresSkipped } from "../../support/postgres.ts";

/** `pragma synchronous` as a number: 2 is FULL, with which a commit survives a power failure also with a log. */
const full = 2;

async function readPragma(db: Kysely<never>, name: string): Promise<unknown> {
  const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db);
  return rows[0]?.[name];
}

async function openEngine(place: typeof placeOnSqlite, isRehearsal = false) {
  const { url, remove } = await place();
  const database: Database = await openDatabase(url, { nowMs: 0, isRehearsal });
  const transport = createLocalTransport({
    database,
    clock: () => 0,
    random: randomBytes,
    sealer: createSealer(randomBytes(32)),
    enforceLimits: true,
    limitLegacy: true,
  });
  onTestFinished(async () => {
    await transport.close();
    await remove();
  });
  return { url, database, transport };
}

it.each([false, true])(
  "writes every commit of the engine to the disk on SQLite (rehearsal: %s)",
  async (isRehearsal) => {
    const { database, transport } = await openEngine(placeOnSqlite, isRehearsal);
    const { read, write } = transport.work;
    const user = { email: "a@mail.example", display_name: "A", password: "p", url: "https://a.example" };
    await transport.call("users.create", { user }, {});
    const pragmas = (db: unknown) =>
      Promise.all(["synchronous", "journal_mode"].map((name) => readPragma(db as never, name)));
    expect(await write(undefined, ({ transaction }) => pragmas(transaction))).toEqual([full, "wal"]);
    expect(await read(({ transaction }) => pragmas(transaction))).toEqual([full, "wal"]);
    expect(await pragmas(database.db)).toEqual([full, "wal"]);
  },
);

it("answers a bulk write when it is on the disk, and runs the next one meanwhile", async () => {
  const { url, remove } = await placeOnSqlite();
  const database = await openDatabase(url, { nowMs: 0, isBulk: true });
  onTestFinished(async () => {
    await database.db.destroy();
    await remove();
  });
  const synced: (() => void)[] = [];
  const spy = vi.spyOn(LogFile.prototype, "sync").mockImplementation(() => new Promise((end) => synced.push(end)));
  onTestFinished(() => spy.mockRestore());
  const events: string[] = [];
  const write = async (name: string) => {
    await database.db.transaction().execute(async (transaction) => {
      await sql`create table ${sql.table(name)} (id integer)`.execute(transaction);
      events.push(`${name} written`);
    });
    events.push(`${name} answered`);
  };
  const both = Promise.all([write("a"), write("b")]);
  await expect.poll(() => synced).toHaveLength(2);
  expect(events).toEqual(["a written", "b written"]);
  for (const end of synced) end();
  await both;
  expect(events).toEqual(["a written", "b written", "a answered", "b answered"]);
  expect(await readPragma(database.db as never, "synchronous")).toBe(1);
});

it("does not roll back the next bulk write if one cannot be written to the disk", async () => {
  const { url, remove } = await placeOnSqlite();
  const database = await openDatabase(url, { nowMs: 0, isBulk: true });
  onTestFinished(async () => {
    await database.db.destroy();
    await remove();
  });
  const failure = new LogNotWrittenError(new Error("EIO"));
  const spy = vi.spyOn(LogFile.prototype, "sync").mockImplementationOnce(async () => {
    await setTimeout(20);
    throw failure;
  });
  onTestFinished(() => spy.mockRestore());
  const create = (name: string, ms: number) =>
    database.db.transaction().execute(async (transaction) => {
      await sql`create table ${sql.table(name)} (id integer)`.execute(transaction);
      await setTimeout(ms);
    });
  const [first, second] = await Promise.allSettled([create("a", 0), create("b", 40)]);
  expect(first).toMatchObject({ status: "rejected", reason: failure });
  expect(second.status).toBe("fulfilled");
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where name in ('a', 'b')`.execute(
    database.db,
  );
  expect(rows.map(({ name }) => name)).toEqual(["a", "b"]);
});

it("reports a bulk write as unsure that could not be written to the disk", async () => {
  const { url, remove } = await placeOnSqlite();
  onTestFinished(remove);
  const log = new LogFile(url);
  const failure = await log.sync().catch((error: unknown) => error);
  expect(failure).toMatchObject({ cause: { code: "ENOENT" } });
  expect(sqlite.explainError(failure)?.[0]).toBe("unsure");
});

it("reports all later bulk writes as unsure, because a part of the log before them may be missing", async () => {
  const { url, remove } = await placeOnSqlite();
  onTestFinished(remove);
  const log = new LogFile(url);
  const first = log.sync();
  const second = log.sync();
  await expect(first).rejects.toMatchObject({ name: "LogNotWrittenError" });
  await expect(second).rejects.toMatchObject({ name: "LogNotWrittenError" });
  await writeFile(`${url}-wal`, "");
  await expect(log.sync()).rejects.toMatchObject({ name: "LogNotWrittenError" });
  const reopened = new LogFile(url);
  await reopened.sync();
  reopened.close();
});

it("writes the keys that an import found before its first call to the disk", async () => {
  const { url, remove } = await placeOnSqlite();
  const levels: unknown[] = [];
  const spy = vi.spyOn(SqliteFile.prototype, "run").mockImplementation(function (this: SqliteFile) {
    levels.push(this.all("pragma synchronous")[0]?.["synchronous"]);
    return { changes: 1n, lastInsertRowid: 1n };
  });
  onTestFinished(async () => {
    spy.mockRestore();
    await remove();
  });
  using keys = new KeyStore(join(url, "..", "keys.db"));
  await keys.load([[{ key: "a" }]], 0);
  expect(new Set(levels)).toEqual(new Set([full]));
});

if (postgresServer === undefined) it.skip(`writes every commit to the disk on ${postgresSkipped}`);
else {
  it("commits as durably as the server is configured on PostgreSQL, also after counting requests", async () => {
    const { url, database, transport } = await openEngine(placeOnPostgres);
    const user = { email: "a@mail.example", display_name: "A", password: "p", url: "https://a.example" };
    const { app_key: appKey } = await transport.call("users.create", { user }, {});
    await Promise.all(
      Array.from({ length: 12 }, () => transport.call("reviews.siteWidget", {}, { appKey }).catch(() => {})),
    );
    const [configured] = await execute("show synchronous_commit", url);
    const show = async (db: unknown) =>
      (await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(db as Kysely<never>)).rows[0];
    const shown = await Promise.all(Array.from({ length: 10 }, () => database.db.connection().execute(show)));
    for (const each of shown) expect(each).toEqual(configured);
    expect(await transport.work.write(undefined, ({ transaction }) => show(transaction))).toEqual(configured);
  });
}
