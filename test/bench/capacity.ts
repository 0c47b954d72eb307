import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureCosts } from "./capacity/bytes.ts";
import { countIdle, countStatements } from "./capacity/statements.ts";
import { startDelayProxy } from "./support/delay-proxy.ts";
import { withCluster } from "./scale/cluster.ts";
import { runParts } from "./scale/parts.ts";
import { openPostgres, type PostgresServer, withClient, withDatabase } from "./scale/postgres-server.ts";

/**
 * Measures what records and calls take on PostgreSQL, and writes it to `docs/operations/capacity.json`, from which
 * `npm run bench simulate` computes plans, and writes the page with the figures. `--records` is the number of orders, emails, and reviews; `--only costs`,
 * `--only statements`, or `--only scale` measures one part; `--seconds`, `--rounds`, and `--against` are those of
 * `npm run bench scale`; `--postgres` uses a running server of this machine.
 */
const { values: flags } = parseArgs({
  options: {
    records: { type: "string", default: "100000" },
    only: { type: "string" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    against: { type: "string" },
    postgres: { type: "string" },
    out: { type: "string", default: "docs/operations/capacity.json" },
    folder: { type: "string", default: join(tmpdir(), "starpost-bench") },
  },
});
mkdirSync(flags.folder, { recursive: true });
const delayMs = 20;

const server = await openPostgres(flags.postgres);
try {
  const found = JSON.parse(readFileSync(flags.out, "utf8")) as Record<string, unknown>;
  const isWanted = (part: string) => flags.only === undefined || flags.only === part;
  const costs = isWanted("costs") ? await measureAllCosts(server) : found["costs"];
  const statements = isWanted("statements") ? await countAllStatements(server) : found["statements"];
  const scale = isWanted("scale") ? await measureScale(server) : found["scale"];
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const machine = `${cpus().length} cores, Node.js ${process.versions.node}, PostgreSQL 15`;
  const parts = ["costs", "statements", "scale"].filter(isWanted);
  const commits = { ...(found["commits"] as object), ...Object.fromEntries(parts.map((part) => [part, commit])) };
  const all = { ...found, commits, machine, costs, statements, scale };
  writeFileSync(flags.out, `${JSON.stringify(all, undefined, 2)}\n`);
} finally {
  server.stop();
}
execFileSync("npm", ["run", "--silent", "generate"], { stdio: "inherit" });

async function measureScale(postgres: PostgresServer) {
  const builds = { "this build": ".", ...(flags.against !== undefined && { "other build": flags.against }) };
  const [seconds, rounds] = [Number(flags.seconds), Number(flags.rounds)];
  const scale = { folder: flags.folder, seconds, rounds, delayMs: 1, dueAccounts: 10_000, builds };
  return runParts({ ...scale, postgres: async () => postgres }, "");
}

async function measureAllCosts({ url, pid }: PostgresServer) {
  return withDatabase(url, (database) =>
    withCluster({ folder: flags.folder, build: ".", database, servers: 1, accounts: 2 }, (cluster) =>
      withClient(database, (client) =>
        measureCosts(client, cluster, { records: Number(flags.records), postgresPid: pid }),
      ),
    ),
  );
}

async function countAllStatements({ url }: PostgresServer) {
  const proxy = await startDelayProxy(url, delayMs);
  const sealingKey = randomBytes(32).toString("hex");
  const options = { folder: flags.folder, build: ".", servers: 1, flags: ["--no-worker"], sealingKey };
  try {
    return await withDatabase(url, (database) =>
      withClient(database, async (client) => {
        const { pathname } = new URL(database);
        await client.query(`alter database ${pathname.slice(1)} set log_statement = 'all'`);
        const calls = await withCluster({ ...options, database, accounts: 1 }, (direct) => {
          const slow = Object.assign(new URL(proxy.url), { pathname }).href;
          return withCluster({ ...options, database: slow, accounts: 0 }, (delayed) =>
            countStatements(client, { direct, delayed, delayMs }),
          );
        });
        await client.query("update mails set state = 'stopped' where state = 'queued'");
        const working = { ...options, database, accounts: 0, flags: [] };
        const idle = await withCluster(working, () => countIdle(client));
        return { ...calls, "an idle server, in a second": idle };
      }),
    );
  } finally {
    await proxy.close();
  }
}
