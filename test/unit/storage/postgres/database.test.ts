import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toServiceError } from "../../../../src/engine/kernel/storage-errors.ts";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { migrations } from "../../../../src/storage/schema/migrations.ts";
import { toStorageError } from "../../../../src/storage/dialects.ts";
import { lockAccount } from "../../../../src/storage/account-lock.ts";
import { WriteQueue } from "../../../../src/storage/write-queue.ts";
import { addLockable } from "../../../support/databases.ts";
import {
  execute,
  postgresServer,
  postgresSkipped,
  takeDatabase,
  takeEmptyDatabase,
  type TestDatabase,
} from "../../../support/postgres.ts";

const account = (app_key: string) => ({ app_key, secret_sealed: "s", created_at: 0 });

describe.skipIf(postgresServer === undefined)("storage on PostgreSQL", () => {
  let held: TestDatabase[];
  let opened: Database[];

  beforeEach(() => {
    held = [];
    opened = [];
  });

  afterEach(async () => {
    await Promise.all(opened.map(({ db }) => db.destroy()));
    for (const { drop } of held) await drop();
  });

  async function take(kind: "empty" | "migrated" = "migrated"): Promise<TestDatabase> {
    const database = await (kind === "empty" ? takeEmptyDatabase() : takeDatabase());
    held.push(database);
    return database;
  }

  async function open(url: string, busyTimeoutMs?: number): Promise<Database> {
    const options = { nowMs: 7, ...(busyTimeoutMs !== undefined && { busyTimeoutMs }) };
    const database = await openDatabase(url, options);
    opened.push(database);
    return database;
  }

  const namesOf = async ({ db }: Database) => {
    const found = await db.selectFrom("accounts").select("app_key").orderBy("id").execute();
    return found.map(({ app_key }) => app_key);
  };

  it("migrates an empty database once, also if several connections open it concurrently", async () => {
    const { url } = await take("empty");
    const databases = await Promise.all([open(url), open(url), open(url)]);
    const recorded = await execute("select version, name, applied_at from starpost_migrations order by version", url);
    expect(recorded).toEqual(migrations.map(({ version, name }) => ({ version, name, applied_at: "7" })));
    expect(databases.map(({ dialect }) => dialect.name)).toEqual(["postgres", "postgres", "postgres"]);
  });

  it("uses at most the given number of connections, and counts them", async () => {
    const { url } = await take();
    const database = await openDatabase(url, { nowMs: 7, poolSize: 3 });
    opened.push(database);
    const running = Promise.all([1, 2, 3, 4, 5].map(() => sql`select pg_sleep(0.2)`.execute(database.db)));
    await expect.poll(() => database.poolUse()).toEqual({ total: 3, idle: 0, waiting: 2, isRefused: false });
    await running;
    expect(database.poolUse()).toEqual({ total: 3, idle: 3, waiting: 0, isRefused: false });
  });

  it.each([
    [4, undefined],
    [2, 1],
    [2, 7],
    [3, 8],
    [8, 20],
  ])("writes in at most %s transactions if it may use %s connections", async (count, poolSize) => {
    const { url } = await take();
    const database = await openDatabase(url, { nowMs: 7, poolSize });
    opened.push(database);
    expect(database.maxTransactions).toBe(count);
  });

  it("ends a transaction whose process hangs for 8 seconds, but lets a rehearsal wait for its input", async () => {
    const { url } = await take();
    const readTimeout = async (isRehearsal: boolean) => {
      const database = await openDatabase(url, { nowMs: 7, isRehearsal });
      opened.push(database);
      const { rows } = await sql<{ ms: number }>`select setting::int as ms from pg_settings
        where name = 'idle_in_transaction_session_timeout'`.execute(database.db);
      return rows[0]?.ms;
    };
    expect([await readTimeout(false), await readTimeout(true)]).toEqual([8_000, 60_000]);
  });

  it("rejects a database of a newer version or of another application", async () => {
    const newer = await take("empty");
    await (await openDatabase(newer.url, { nowMs: 0 })).db.destroy();
    await execute("insert into starpost_migrations values (999, 'later', 0)", newer.url);
    await expect(open(newer.url)).rejects.toMatchObject({
      problem: "notOurs",
      message: expect.stringMatching(/\bschema 999\b/),
    });
    const theirs = await take("empty");
    await execute("create table theirs (a int)", theirs.url);
    await expect(open(theirs.url)).rejects.toMatchObject({ problem: "notOurs" });
    expect(await execute("select tablename from pg_tables where schemaname = 'public'", theirs.url)).toEqual([
      { tablename: "theirs" },
    ]);
  });

  it("names a missing database or role without the password", async () => {
    const { url } = await take();
    const missing = new URL(url);
    missing.pathname = "/nothing_of_that_name";
    missing.password = "hidden";
    await expect(open(missing.href)).rejects.toMatchObject({
      problem: "cannotOpen",
      message: expect.stringContaining(`postgres://${missing.username}@${missing.host}/nothing_of_that_name:`),
    });
    const stranger = new URL(url);
    stranger.username = "nobody_of_that_name";
    stranger.password = "hidden";
    const refused = await open(stranger.href).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "StorageError", problem: "cannotOpen" });
    expect((refused as Error).message).not.toContain("hidden");
  });

  it("returns integers as numbers and enforces foreign keys", async () => {
    const { db } = await open((await take()).url);
    const { rows } = await sql<Record<string, unknown>>`
      select cast(${2 ** 53 - 1} as bigint) as large, sum(n) as total, count(*) as counted, avg(n) as average
      from (values (1::bigint), (2)) as listed (n)`.execute(db);
    expect(rows).toEqual([{ large: 2 ** 53 - 1, total: 3, counted: 2, average: 1.5 }]);
    const orphan = { account_id: 99, platform_type_id: 1, shop_domain: "a", shop_token: "t", updated_at: 0 };
    await expect(db.insertInto("account_platforms").values(orphan).execute()).rejects.toThrow(/foreign key/);
  });

  it("serializes writes, so that check-then-write is safe across processes", async () => {
    const { url } = await take();
    const databases = [await open(url), await open(url)];
    const id = await addLockable(databases[0] ?? expect.unreachable());
    const addNext = ({ db, dialect }: Database) =>
      db.transaction().execute(async (transaction) => {
        await lockAccount(id, { transaction, dialect });
        const { count } = await transaction
          .selectFrom("accounts")
          .select(({ fn }) => fn.countAll<number>().as("count"))
          .executeTakeFirstOrThrow();
        await transaction
          .insertInto("accounts")
          .values(account(`n${count}`))
          .execute();
      });
    await Promise.all(Array.from({ length: 20 }, () => databases.map(addNext)).flat());
    expect(await namesOf(databases[0] ?? expect.unreachable())).toEqual([
      "locked",
      ...Array.from({ length: 40 }, (_, at) => `n${at + 1}`),
    ]);
  });

  it("provides a consistent read transaction that does not block writes", async () => {
    const { url } = await take();
    const [one, other] = [await open(url), await open(url)];
    await one.db.transaction().execute(async (writing) => {
      await writing.insertInto("accounts").values(account("a")).execute();
      await other.db
        .transaction()
        .setAccessMode("read only")
        .execute(async (reading) => {
          const count = async () => (await reading.selectFrom("accounts").select("id").execute()).length;
          expect(await count()).toBe(0);
          await execute("insert into accounts (app_key, secret_sealed, created_at) values ('b', 's', 0)", url);
          expect(await count()).toBe(0);
        });
    });
    expect((await namesOf(other)).toSorted()).toEqual(["a", "b"]);
  });

  it("reports a write lock that is held too long, and continues after its release", async () => {
    const { url } = await take();
    const [holder, waiting] = [await open(url), await open(url, 30)];
    const id = await addLockable(holder);
    const lock = ({ db, dialect }: Database, during: () => Promise<unknown>) =>
      db.transaction().execute(async (transaction) => {
        await lockAccount(id, { transaction, dialect });
        await during();
      });
    await lock(holder, async () => {
      const write = lock(waiting, async () => undefined);
      const error: unknown = await write.catch((thrown: unknown) => thrown);
      expect(toStorageError(error, "db")).toMatchObject({ problem: "busy" });
    });
    await waiting.db
      .transaction()
      .execute((transaction) => transaction.insertInto("accounts").values(account("a")).execute());
    expect(await namesOf(holder)).toEqual(["locked", "a"]);
  });

  it("keeps the successful writes of a shared commit", async () => {
    const database = await open((await take()).url);
    const queue = new WriteQueue(database);
    const add = (app_key: string) =>
      queue.run((transaction) => transaction.insertInto("accounts").values(account(app_key)).execute());
    const ended = await Promise.allSettled(["a", "b", "b", "c", "a", "d"].map(add));
    expect(ended.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, false, true]);
    expect(await namesOf(database)).toEqual(["a", "b", "c", "d"]);
  });

  it("survives the loss of idle and busy connections, and reports it to callers", async () => {
    const { url } = await take();
    const database = await open(url);
    await namesOf(database);
    const cutOff = () =>
      execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'starpost' and datname = current_database()",
        url,
      );
    const writing = database.db.transaction().execute(async (transaction) => {
      await transaction.insertInto("accounts").values(account("lost")).execute();
      await cutOff();
      await transaction.insertInto("accounts").values(account("never")).execute();
    });
    const error: unknown = await writing.catch((thrown: unknown) => thrown);
    expect(toStorageError(error, "db")).toMatchObject({ problem: "unreachable" });
    await database.db
      .transaction()
      .execute((transaction) => transaction.insertInto("accounts").values(account("kept")).execute());
    expect(await namesOf(database)).toEqual(["kept"]);
    await cutOff();
    await expect.poll(() => namesOf(database).catch(() => [])).toEqual(["kept"]);
  });

  it("reports an unknown outcome if the connection is lost during a commit", async () => {
    const { url } = await take("empty");
    const database = await open(url);
    await execute(
      `create function die() returns trigger language plpgsql as
        'begin perform pg_terminate_backend(pg_backend_pid()); return null; end';
      create constraint trigger dies after insert on accounts deferrable initially deferred
        for each row execute function die()`,
      url,
    );
    const writing = database.db
      .transaction()
      .execute((transaction) => transaction.insertInto("accounts").values(account("a")).execute());
    const error: unknown = await writing.catch((thrown: unknown) => thrown);
    expect(toStorageError(error, "db")).toMatchObject({ problem: "unsure" });
    expect(toServiceError(error, "db")).toMatchObject({ kind: "timeout", outcomeUnknown: true });
  });
});

if (postgresServer === undefined) it.skip(`storage on ${postgresSkipped}`);

describe("errors of the PostgreSQL driver", () => {
  const system = (code: string, syscall = "connect") => Object.assign(new Error(code), { code, syscall });
  const server = (code: string) => Object.assign(new Error("server error"), { code, severity: "FATAL" });

  it.each([
    [system("ECONNREFUSED"), "unreachable"],
    [Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }), "unreachable"],
    [system("ENOTFOUND", "getaddrinfo"), "unreachable"],
    [system("ECONNRESET", "read"), "unreachable"],
    [new Error("Connection terminated unexpectedly"), "unreachable"],
    [new Error("Client has encountered a connection error and is not queryable"), "unreachable"],
    [new Error("timeout exceeded when trying to connect"), "busy"],
    [server("57P01"), "unreachable"],
    [server("08006"), "unreachable"],
    [server("53300"), "noConnection"],
    [Object.assign(server("08P01"), { message: "no more connections allowed (max_client_conn)" }), "noConnection"],
    [Object.assign(server("08P01"), { message: "query_wait_timeout" }), "noConnection"],
    [server("40P01"), "busy"],
    [server("40001"), "busy"],
    [server("53100"), "full"],
    [server("25006"), "readOnly"],
    [server("28P01"), "cannotOpen"],
    [server("3D000"), "cannotOpen"],
    [Object.assign(new Error("self-signed"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }), "cannotOpen"],
    [system("ENOENT"), "unreachable"],
    [system("ENOENT", "open"), "cannotOpen"],
  ])("%o are reported as %s", (error, problem) => {
    expect(toStorageError(error, "db")?.problem).toBe(problem);
  });

  it.each(["42601", "42703", "23505", "22003"])("%s are bugs, not storage errors", (code) => {
    expect(toStorageError(server(code), "db")).toBeUndefined();
  });
});
