import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { startDelayProxy } from "../support/delay-proxy.ts";
import { type Figure, figure, type Goal } from "../support/figures.ts";
import { type Cluster, withCluster } from "./cluster.ts";
import { withChildren } from "./cpu-time.ts";
import { fillDueAccounts } from "./due-accounts.ts";
import { type Load, type LoadOptions, runLoad } from "./load.ts";
import { type PostgresServer, withClient, withDatabase } from "./postgres-server.ts";
import { aReview, orderRequests, widgetRequests } from "./requests.ts";

export interface Scale {
  /** For temporary files. */
  readonly folder: string;
  readonly seconds: number;
  readonly rounds: number;
  /** How long each direction between servers and PostgreSQL is delayed. */
  readonly delayMs: number;
  /** The number of accounts with due emails. */
  readonly dueAccounts: number;
  /** The names of the builds to compare, and their folders. */
  readonly builds: Readonly<Record<string, string>>;
  /** Starts PostgreSQL on first use. */
  readonly postgres: () => Promise<PostgresServer>;
}

type Part = (scale: Scale) => Promise<readonly Omit<Figure, "part">[]>;

/** Requests in flight, over all servers. */
const inFlight = 64;
const reviewsPerAccount = 300;

type Goals = Readonly<Partial<Record<"perSecond" | "p99", Goal>>>;

/** The parts that `--only` can select. */
const parts: Readonly<Record<string, Part>> = {
  "orders, 1 account, 1 server": (scale) =>
    onPostgres(scale, { accounts: 1, servers: 1 }, (cluster) => ordersOf(cluster), {
      perSecond: { required: 250, aim: 600 },
    }),
  "orders, 16 accounts, 2 servers": (scale) =>
    onPostgres(scale, { accounts: 16, servers: 2 }, (cluster) => ordersOf(cluster), {
      perSecond: { required: 600, aim: 1_000 },
      p99: { required: 300, aim: 150 },
    }),
  "widget reads, 16 accounts, 2 servers": (scale) =>
    onPostgres(scale, { accounts: 16, servers: 2, reviews: reviewsPerAccount }, (cluster) => readsOf(cluster), {
      perSecond: { required: 1_500, aim: 3_000 },
    }),
  "orders on SQLite": compareOnSqlite,
  "accounts with due emails, 1 server": serveDueAccounts,
};

/** Runs the parts whose names contain a text. */
export async function runParts(scale: Scale, only: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [name, part] of Object.entries(parts).filter(([title]) => title.includes(only))) {
    process.stderr.write(`${name}\n`);
    for (const found of await part(scale)) figures.push({ part: name, ...found });
  }
  return figures;
}

function ordersOf({ accounts }: Cluster): LoadOptions["requestsOf"] {
  return (connection) => orderRequests(accounts, connection);
}

function readsOf({ accounts }: Cluster): LoadOptions["requestsOf"] {
  return (connection) => widgetRequests(accounts, connection * 7);
}

interface Size {
  readonly accounts: number;
  readonly servers: number;
  /** The number of reviews that each account gets before. */
  readonly reviews?: number;
}

async function onPostgres(
  scale: Scale,
  size: Size,
  choose: (cluster: Cluster) => LoadOptions["requestsOf"],
  goals: Goals,
): Promise<Omit<Figure, "part">[]> {
  const server = await scale.postgres();
  const proxy = await startDelayProxy(server.url, scale.delayMs);
  const loads: Record<string, Load[]> = {};
  try {
    await inTurn(scale, async (name, build) => {
      const load = await withDatabase(server.url, (url) => {
        const database = Object.assign(new URL(proxy.url), { pathname: new URL(url).pathname }).href;
        return withCluster({ folder: scale.folder, build, database, ...size }, async (cluster) => {
          await fill(cluster, size.reviews ?? 0);
          const processes = { servers: () => cluster.pids, PostgreSQL: () => withChildren(server.pid) };
          const { urls } = cluster;
          const requestsOf = choose(cluster);
          return runLoad({ urls, connections: inFlight, seconds: scale.seconds, requestsOf, processes });
        });
      });
      (loads[name] ??= []).push(load);
      return load;
    });
  } finally {
    await proxy.close();
  }
  return Object.entries(loads).flatMap(([name, all]) => describe(name, all, goals));
}

/** Creates reviews through the first server, as imports do. */
async function fill({ urls, accounts }: Cluster, reviews: number): Promise<void> {
  for (const { appKey, utoken } of accounts) {
    const all = Array.from({ length: reviews }, (_, at) => at);
    const past = { created_at: "2026-01-01T10:00:00.000Z" };
    const writers = Array.from({ length: 32 }, async () => {
      for (let at = all.pop(); at !== undefined; at = all.pop()) {
        const reply = await fetch(`${urls[0]}/reviews/dynamic_create`, {
          method: "POST",
          headers: { "content-type": "application/json", "idempotency-key": `review-${at}` },
          body: JSON.stringify({ appkey: appKey, utoken, ...aReview(at), past }),
        });
        if (!reply.ok) throw new Error(`a review was refused: ${await reply.text()}`);
        await reply.arrayBuffer();
      }
    });
    await Promise.all(writers);
  }
}

async function compareOnSqlite(scale: Scale): Promise<Omit<Figure, "part">[]> {
  const loads: Record<string, Load[]> = {};
  await inTurn(scale, async (name, build) => {
    const folder = mkdtempSync(join(scale.folder, "sqlite-"));
    try {
      const options = { folder, build, database: join(folder, "starpost.db"), servers: 1, accounts: 1 };
      const load = await withCluster(options, (cluster) =>
        runLoad({
          urls: cluster.urls,
          connections: 8,
          seconds: scale.seconds,
          requestsOf: ordersOf(cluster),
          processes: { servers: () => cluster.pids },
        }),
      );
      (loads[name] ??= []).push(load);
      return load;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  const [[own, ownLoads] = ["", []], ...others] = Object.entries(loads);
  const ratios = others.map(([name, all]) => {
    const values = ownLoads.map(({ perSecond }, at) => perSecond / (all[at]?.perSecond ?? Number.NaN));
    return figure(`${own}, relative to ${name}`, "times", values, { required: 1, aim: 1.5 });
  });
  return [...ratios, ...Object.entries(loads).flatMap(([name, all]) => describe(name, all, {}))];
}

/**
 * Accounts that each have an email that is due, and that a rule prevents: what a worker must do at least for an account. The
 * worker has one core, PostgreSQL the others.
 */
async function serveDueAccounts(scale: Scale): Promise<Omit<Figure, "part">[]> {
  const server = await scale.postgres();
  const shareCores = separateCores(server.pid);
  const speeds: Record<string, number[]> = {};
  await inTurn(scale, async (name, build) => {
    const perSecond = await withDatabase(server.url, (database) => {
      const env = { STARPOST_SMTP_HOST: "localhost", STARPOST_MAIL_FROM: "shop@shop.example" };
      const options = { folder: scale.folder, build, database, env, accounts: 0, servers: 0 };
      return withCluster(options, async ({ run }) => {
        run(["account", "create", "--json"]);
        await withClient(database, (client) => fillDueAccounts(client, scale.dueAccounts));
        const startedMs = performance.now();
        run(["mail", "run", "--once", "--json", "--quiet"]);
        return (scale.dueAccounts * 1_000) / (performance.now() - startedMs);
      });
    });
    (speeds[name] ??= []).push(perSecond);
    return { perSecond };
  }).finally(shareCores);
  return Object.entries(speeds).map(([name, values]) =>
    figure(`${name}: accounts`, "accounts/s", values, { required: 1_000 }),
  );
}

/**
 * Gives this process and those that it starts a core of their own, and PostgreSQL the others.
 * @returns a function that lets them share all cores again
 */
function separateCores(postgresPid: number): () => void {
  const last = availableParallelism() - 1;
  const place = (own: string, others: string) => {
    execFileSync("taskset", ["-cp", own, String(process.pid)]);
    execFileSync("taskset", ["-cp", others, String(postgresPid)]);
  };
  if (last > 0) place("0", `1-${last}`);
  return () => place(`0-${last}`, `0-${last}`);
}

/** Runs the builds alternately, round by round. */
async function inTurn(
  scale: Scale,
  run: (name: string, build: string) => Promise<Pick<Load, "perSecond"> & Partial<Load>>,
): Promise<void> {
  for (let round = 1; round <= scale.rounds; round++) {
    for (const [name, build] of Object.entries(scale.builds)) {
      const { perSecond, p50, p99 } = await run(name, build);
      const times =
        p50 === undefined || p99 === undefined ? [] : [`p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`];
      process.stderr.write(`  round ${round}, ${name}: ${[`${perSecond.toFixed(0)}/s`, ...times].join(", ")}\n`);
    }
  }
}

function describe(name: string, loads: readonly Load[], goals: Goals): Omit<Figure, "part">[] {
  const groups = Object.keys(loads[0]?.cpuMs ?? {});
  const all = (pick: (load: Load) => number) => loads.map(pick);
  return [
    figure(
      `${name}: calls`,
      "calls/s",
      all(({ perSecond }) => perSecond),
      goals.perSecond,
    ),
    figure(
      `${name}: p50`,
      "ms",
      all(({ p50 }) => p50),
    ),
    figure(
      `${name}: p99`,
      "ms",
      all(({ p99 }) => p99),
      goals.p99,
    ),
    ...groups.map((group) =>
      figure(
        `${name}: CPU time of ${group} per call`,
        "ms",
        all(({ cpuMs }) => cpuMs[group] ?? Number.NaN),
      ),
    ),
  ];
}
