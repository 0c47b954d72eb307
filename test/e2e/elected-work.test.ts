import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, type TestContext, test } from "vitest";
import { execute, postgresServer, postgresSkipped, takeEmptyDatabase } from "../support/postgres.ts";
import { type Home, Homes } from "../support/starpost.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface Target {
  readonly home: Home;
  /** Runs a statement on the database of the home. */
  readonly run: (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** A home whose database has many accounts, so that a walk over all of them has pauses. */
async function openHome(isOnPostgres: boolean, accounts: number, context: TestContext): Promise<Target> {
  const { home, run } = await (isOnPostgres ? openOnPostgres(context) : openOnSqlite());
  await home.init();
  await run(`insert into accounts (app_key, secret_sealed, created_at)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${accounts})
    select 'bulk-' || n, '', 0 from numbers`);
  await run(`insert into account_versions (account_id, version)
    select id, 1 from accounts where app_key like 'bulk-%'`);
  return { home, run };
}

async function openOnSqlite(): Promise<Target> {
  const home = homes.open();
  return {
    home,
    run: async (sql) => {
      const file = new SqliteFile(join(home.folder, "starpost.db"));
      try {
        return file.all(sql, []);
      } finally {
        file.close();
      }
    },
  };
}

async function openOnPostgres({ onTestFinished }: TestContext): Promise<Target> {
  const { url, drop } = await takeEmptyDatabase();
  onTestFinished(drop);
  const home = homes.open({ STARPOST_DATABASE: url, STARPOST_KEY: randomBytes(32).toString("hex") });
  return { home, run: (sql) => execute(sql, url) };
}

const databases = [
  ["SQLite", false],
  ["PostgreSQL", true],
] as const;
if (postgresServer === undefined) test.skip(`elected work on ${postgresSkipped}`);

// These wait for leases and pauses most of the time.
describe.concurrent.each(databases.filter(([, isOnPostgres]) => !isOnPostgres || postgresServer !== undefined))(
  "work on all accounts of a %s database",
  (_name, isOnPostgres) => {
    test("is done by one process; another continues after its lease, or when it is stopped", async (context) => {
      const { home, run } = await openHome(isOnPostgres, 3_500, context);
      const start = () => home.start(["mail", "run", "--lease", "5", "--json"]);
      const readHolder = async () => {
        const [found] = await run("select worker, walked_to from elected_work where name = 'idempotency_keys'");
        return { worker: found?.["worker"], walkedTo: Number(found?.["walked_to"]) };
      };
      const untilHeldByOther = async (known: unknown) => {
        for (;;) {
          const found = await readHolder();
          if (found.worker && found.worker !== known && found.walkedTo > 0) return found;
          await sleep(100);
        }
      };
      const first = start();
      const one = await untilHeldByOther(undefined);
      const second = start();
      await sleep(1_500);
      expect((await readHolder()).worker).toBe(one.worker);
      first.kill("SIGKILL");
      await first;
      const two = await untilHeldByOther(one.worker);
      expect(two.walkedTo).toBeGreaterThanOrEqual(one.walkedTo);
      const third = start();
      second.kill("SIGTERM");
      expect((await second).exitCode).toBe(0);
      const three = await untilHeldByOther(two.worker);
      expect(three.walkedTo).toBeGreaterThanOrEqual(two.walkedTo);
      third.kill("SIGTERM");
      expect((await third).exitCode).toBe(0);
      // What the killed process held can still be leased.
      const held = await run("select name, worker from elected_work");
      expect(held.filter(({ worker }) => worker === two.worker || worker === three.worker)).toEqual([]);
    });
  },
);

test.skipIf(postgresServer === undefined)(
  "an idle server with many accounts leaves the database idle",
  { concurrent: true },
  async (context) => {
    const { home, run } = await openHome(true, 20_000, context);
    await run("analyze");
    const server = await home.serve();
    const count = async () => {
      const [found] = await run(`select (select xact_commit + xact_rollback from pg_stat_database
        where datname = current_database()) as transactions,
      (select sum(coalesce(idx_scan, 0) + seq_scan) from pg_stat_user_tables) as scans`);
      return { transactions: Number(found?.["transactions"]), scans: Number(found?.["scans"]) };
    };
    // The first search of each walk.
    await sleep(4_000);
    const before = await count();
    await sleep(5_000);
    const after = await count();
    await server.stop();
    expect(after.transactions - before.transactions).toBeLessThan(5 * 30);
    // Each walk searches a thousand accounts every ten seconds.
    expect(after.scans - before.scans).toBeLessThan(5 * 1_000);
  },
);
