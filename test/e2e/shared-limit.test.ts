import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";
import { chooseSize, isSlowSuite } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** The number of calls of each import, one per order. */
const callCount = chooseSize(15, 100);
const limitPerSecond = 5;

interface LogLine {
  readonly time: string;
  readonly status?: number;
  readonly route?: string;
  readonly duration_ms?: number;
}

interface LoggedCall {
  readonly status: number;
  /** When the server received it. */
  readonly atMs: number;
}

/** A service with a rate limit, its log of the account's calls, and a home whose processes share the rate state. */
async function openService() {
  const server = await homes.open().serve(["--limit-legacy"]);
  const log: LoggedCall[] = [];
  let rest = "";
  server.process.stderr?.on("data", (data: Buffer) => {
    const lines = (rest + data.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("{")) continue;
      const { status, time, route, duration_ms = 0 } = JSON.parse(line) as LogLine;
      if (status === undefined || route?.startsWith("/apps/") !== true) continue;
      log.push({ status, atMs: Date.parse(time) - duration_ms });
    }
  });
  const home = homes.open(remoteEnv(server));
  // So that no import needs to sign in.
  await home.run(["auth", "token"]);
  return { server, home, log };
}

function writeOrders(home: Home, name: string, count: number): string {
  const path = join(home.folder, `${name}.csv`);
  const rows = Array.from(
    { length: count },
    (_, at) => `${name}-${at},2026-01-02,N,${name}${at}@example.com,p-${at},Name,https://shop.example/p\n`,
  );
  writeFileSync(path, `order_id,order_date,customer_name,email,product_id,product_name,product_url\n${rows.join("")}`);
  return path;
}

const importArgs = (path: string, ...flags: string[]) => [
  "orders",
  "import",
  path,
  "--batch-size",
  "1",
  "--json",
  ...flags,
];

const callsIn = (log: readonly LoggedCall[], fromMs: number, toMs: number) =>
  log.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);

/** The log states a time and a duration in whole milliseconds. */
const logPrecisionMs = 2;

/** The spans between each call and the one that is `count` calls later, in milliseconds, shortest first. */
function listSpans(calls: readonly LoggedCall[], count: number): readonly number[] {
  const times = calls.map(({ atMs }) => atMs).toSorted((a, b) => a - b);
  const spans = times.slice(count).map((atMs, at) => atMs - (times[at] ?? 0));
  return spans.toSorted((a, b) => a - b);
}

/**
 * The median rate in calls per second, over windows of as many calls as a second may contain. The median ignores
 * pauses of the machine.
 */
function paceOf(calls: readonly LoggedCall[], mostPerSecond: number): number {
  const spans = listSpans(calls, mostPerSecond);
  const median = spans[Math.floor(spans.length / 2)];
  return (mostPerSecond * 1_000) / (median ?? Infinity);
}

describe("processes that import into the same account", { retry: 2 }, () => {
  test("share the rate limit, use it fully, and get no 429", async () => {
    const { server, home, log } = await openService();
    const paths = ["one", "other"].map((name) => writeOrders(home, name, callCount));
    const runs = await Promise.all(paths.map((path) => home.runProcess(importArgs(path))));
    const summaries = runs.map(({ stdout }) => JSON.parse(stdout) as Summary);
    for (const { calls, rows } of summaries) {
      expect(calls).toEqual({ sent: callCount, retried: 0, throttled: 0 });
      expect(rows.accepted).toBe(callCount);
    }
    // An import also makes some read calls.
    expect(log.length).toBeGreaterThanOrEqual(2 * callCount);
    expect(log.filter(({ status }) => status !== 200)).toEqual([]);

    const begins = summaries.map(({ started_at }) => Date.parse(started_at));
    const ends = summaries.map(({ duration_ms }, at) => (begins[at] ?? 0) + duration_ms);
    const [fromMs, toMs] = [Math.max(...begins), Math.min(...ends)];
    const pace = paceOf(callsIn(log, fromMs, toMs), limitPerSecond);
    expect(pace / limitPerSecond).toBeGreaterThanOrEqual(0.9);
    // Without the load of other tests, because the log states when a call was read, not when it arrived.
    if (isSlowSuite) expect(listSpans(log, limitPerSecond)[0]).toBeGreaterThan(1_000 - logPrecisionMs);
    // Only while both are running: before and afterwards, one of them makes all calls.
    const before = callsIn(log, 0, fromMs).length;
    const after = callsIn(log, toMs, Infinity).length;
    const isFirstTwice = begins.indexOf(Math.min(...begins)) === ends.indexOf(toMs);
    const ofFirst = callCount - (isFirstTwice ? before : 0);
    const ofOther = callCount - after - (isFirstTwice ? 0 : before);
    const part = ofFirst / (ofFirst + ofOther);
    expect(part).toBeGreaterThan(0.4);
    expect(part).toBeLessThan(0.6);
    await server.stop();
  });

  test("take over the share of a killed process", async () => {
    const { server, home, log } = await openService();
    const killed = home.start(importArgs(writeOrders(home, "killed", 500)));
    const left = home.start(importArgs(writeOrders(home, "left", 500)));
    while (log.length < 10) await sleep(50);
    killed.kill("SIGKILL");
    const killedMs = Date.now();
    await killed;
    const alone = () => callsIn(log, killedMs + 1_000, Infinity);
    while (alone().length < 4 * limitPerSecond) await sleep(50);
    left.kill("SIGKILL");
    await left;
    expect(paceOf(alone(), limitPerSecond) / limitPerSecond).toBeGreaterThanOrEqual(0.9);
    expect(log.filter(({ status }) => status !== 200)).toEqual([]);
    await server.stop();
  });

  test("respect --rate-share", async () => {
    const { server, home, log } = await openService();
    const run = await home.run(importArgs(writeOrders(home, "partial", 13), "--rate-share", "60%"));
    expect((JSON.parse(run.stdout) as Summary).rows.accepted).toBe(13);
    const tookMs = (log.at(-1)?.atMs ?? 0) - (log[0]?.atMs ?? 0);
    expect(tookMs).toBeGreaterThanOrEqual(3_900);
    expect(paceOf(log, 3) / 3).toBeGreaterThanOrEqual(0.9);
    expect(paceOf(log, 3) / 3).toBeLessThanOrEqual(1.1);
    await server.stop();
  });
});

/** More than any limit of calls without a token allows at once, for one client and one recipient. */
const reviews = 25;

test("an import into a server with limits on public calls is not slowed", async () => {
  const server = await homes.open().serve(["--public-url", "https://reviews.example"]);
  const home = homes.open(remoteEnv(server));
  const path = join(home.folder, "reviews.csv");
  const rows = Array.from(
    { length: reviews },
    (_, at) => `true,Good,Text ${at},5,2018-08-15,teapot,Ann,ann@mail.example,\n`,
  );
  const header =
    "published,review_title,review_content,review_score,date,product_id,display_name,email,comment_content\n";
  writeFileSync(path, header + rows.join(""));
  const { exitCode, data } = await home.json([
    "reviews",
    "import",
    path,
    "--product-url",
    "https://shop.example/{product_id}",
    "--rate",
    "0",
  ]);
  expect([exitCode, data]).toMatchObject([0, { rows: { accepted: reviews } }]);
  await server.stop();
  const log = String((await server.process).stderr).split("\n");
  const statuses = log.flatMap((line) => /"status":(\d+)/.exec(line)?.[1] ?? []);
  expect([statuses.filter((status) => status === "200").length >= reviews, statuses.includes("429")]).toEqual([
    true,
    false,
  ]);
});
