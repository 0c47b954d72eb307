import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { App, DatabaseStatus, Distribution } from "../../src/app/ports.ts";
import { newestSchema } from "../../src/storage/schema/migrate.ts";
import { setSchemaVersion } from "../support/old-databases.ts";
import { placeOnSqlite } from "../support/databases.ts";
import { makeFolder, makeHomeWithDatabase, run } from "./support.ts";

const status: DatabaseStatus = {
  shownAs: "postgres://starpost@db.example/shop",
  version: "PostgreSQL 16.2",
  bytes: 3_000_000,
  hasWriteAheadLog: null,
  clockAheadMs: 0,
  writer: null,
  replication: { isReplica: false, lagMs: null, replicas: [{ name: "copy", state: "streaming", lagMs: 1_500 }] },
  connections: null,
  cluster: {
    tables: 37,
    nodes: [
      { node: "db1.example:5432", isReachable: true, shards: 16, accounts: 12 },
      { node: "db2.example:5432", isReachable: false, shards: 16, accounts: null },
    ],
  },
  schema: 16,
  newestSchema: 17,
  pendingMigrations: ["17: more"],
  tables: 44,
  accounts: 12,
  account: null,
  heldEmails: {},
};

const withApp = (app: Partial<App>) => ({
  env: { STARPOST_HOME: makeFolder(), STARPOST_DATABASE: "postgres://starpost@db.example/shop" },
  io: { loadApp: async () => app as App },
});

describe("database status", () => {
  test("prints one document", async () => {
    const ran = await run(["database", "status", "--json"], withApp({ readDatabaseStatus: async () => status }));
    expect([ran.status, JSON.parse(ran.stdout)]).toEqual([
      0,
      {
        database: "postgres://starpost@db.example/shop",
        version: "PostgreSQL 16.2",
        bytes: 3_000_000,
        accounts: 12,
        schema: 16,
        latest_schema: 17,
        pending_migrations: ["17: more"],
        is_replica: false,
        lag_ms: null,
        replicas: [{ name: "copy", state: "streaming", lag_ms: 1_500 }],
        distributed_tables: 37,
        nodes: [
          { node: "db1.example:5432", shards: 16, accounts: 12, is_reachable: true },
          { node: "db2.example:5432", shards: 16, accounts: null, is_reachable: false },
        ],
      },
    ]);
  });

  test.each([
    [status.replication, /^role +primary\nreplicas +copy \(streaming, 1\.5 s behind\)$/m],
    [{ isReplica: true, lagMs: 40, replicas: [] }, /^role +replica, 0\.0 s behind\nreplicas +none$/m],
    [{ isReplica: true, lagMs: null, replicas: [] }, /^role +replica, lag unknown$/m],
    [
      { isReplica: false, lagMs: null, replicas: [{ name: "copy", state: null, lagMs: null }] },
      /^replicas +copy \(lag unknown\)$/m,
    ],
  ])("shows replication %#", async (replication, shown) => {
    const readDatabaseStatus = async () => ({ ...status, replication });
    const ran = await run(["database", "status", "--format", "table"], withApp({ readDatabaseStatus }));
    expect(ran.stdout).toMatch(shown);
  });

  test("names a database of a newer version", async () => {
    const readDatabaseStatus = async () => ({ ...status, schema: 18, pendingMigrations: [] });
    const ran = await run(["database", "status", "--format", "table"], withApp({ readDatabaseStatus }));
    expect(ran.stdout).toMatch(/^pending migrations +unknown, because .* newer starpost$/m);
  });

  test("reads a SQLite file, and neither creates nor migrates it", async () => {
    const { url, remove } = await placeOnSqlite();
    const current = await run(["database", "status", "--json"], {
      env: { STARPOST_HOME: makeFolder(), STARPOST_DATABASE: url },
    });
    expect(JSON.parse(current.stdout)).toMatchObject({
      database: url,
      accounts: 0,
      schema: newestSchema,
      pending_migrations: [],
      is_replica: null,
      replicas: [],
      distributed_tables: null,
      nodes: [],
    });
    await setSchemaVersion(url, 22);
    const env = { STARPOST_HOME: makeFolder(), STARPOST_DATABASE: url };
    for (let at = 0; at < 2; at++) {
      const { schema, pending_migrations } = JSON.parse((await run(["database", "status", "--json"], { env })).stdout);
      expect([schema, pending_migrations]).toEqual([22, []]);
    }
    const shown = await run(["database", "status", "--format", "table"], { env });
    expect(shown.stdout).toMatch(/^pending migrations +not possible: .* af372b16/m);
    const refused = await run(["products", "list"], { env });
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("af372b16")]);
    await remove();
    const missing = join(makeFolder(), "missing.db");
    const ran = await run(["database", "status"], { env: { STARPOST_HOME: makeFolder(), STARPOST_DATABASE: missing } });
    expect([ran.status, existsSync(missing)]).toEqual([1, false]);
  });
});

describe("database distribute", () => {
  const plan = (change: Partial<Distribution>): Distribution => ({
    addsExtension: true,
    reference: ["accounts"],
    distributed: ["account_versions", "orders"],
    local: [],
    distribute: async () => {
      throw new Error("distributed");
    },
    ...change,
  });

  test("asks before it changes anything", async () => {
    const app = { openDistribution: async () => plan({}) };
    const ran = await run(["database", "distribute", "--no-input"], withApp(app));
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain("--yes");
  });

  test("distributes what is not distributed yet", async () => {
    const distribute = async () => ({
      distributed: ["account_versions", "orders", "new"],
      reference: ["accounts"],
      local: ["public_ids"],
    });
    const app = { openDistribution: async () => plan({ distribute }) };
    const ran = await run(["database", "distribute", "--yes", "--json"], withApp(app));
    expect([ran.status, JSON.parse(ran.stdout)]).toEqual([0, await distribute()]);
  });

  test("does nothing and asks nothing if everything is distributed", async () => {
    const app = {
      openDistribution: async () => plan({ addsExtension: false, local: [], reference: [], distributed: [] }),
    };
    const ran = await run(["database", "distribute", "--no-input", "--json"], withApp(app));
    expect([ran.status, JSON.parse(ran.stdout)]).toEqual([0, { distributed: [], reference: [], local: [] }]);
  });

  test("refuses a SQLite file", async () => {
    const env = { STARPOST_HOME: await makeHomeWithDatabase() };
    const ran = await run(["database", "distribute", "--yes"], { env });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("Citus");
  });
});
