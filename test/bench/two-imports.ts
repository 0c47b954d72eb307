/**
 * Measures how two imports in two processes share one store's limit: calls per second together and of each, refusals, and,
 * with `kill`, how the remaining process uses the rate. Not part of the tests; runs the built program.
 *
 *     node …/two-imports.js [calls of each] [kill]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";

const calls = Number(process.argv[2] ?? 150);
const isKilled = process.argv[3] === "kill";
const limitPerSecond = 5;

interface LoggedCall {
  readonly status: number;
  readonly atMs: number;
}

function writeOrders(home: Home, name: string): string {
  const path = join(home.folder, `${name}.csv`);
  const rows = Array.from(
    { length: calls },
    (_, at) => `${name}-${at},2026-01-02,N,${name}${at}@example.com,p-${at},Name,https://shop.example/p\n`,
  );
  const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
  writeFileSync(path, header + rows.join(""));
  return path;
}

function mostInSecond(log: readonly LoggedCall[]): number {
  const counts = new Map<number, number>();
  for (const { atMs } of log) {
    const second = Math.floor(atMs / 1_000);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
  return Math.max(...counts.values());
}

/** Returns the part of the limit used between two times. */
function shareUsed(log: readonly LoggedCall[], fromMs: number, toMs: number): number {
  const made = log.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length;
  return Number((made / ((limitPerSecond * (toMs - fromMs)) / 1_000)).toFixed(4));
}

const homes = new Homes();
const server = await homes.open().serve(["--limit-legacy"]);
const log: LoggedCall[] = [];
let rest = "";
server.process.stderr?.on("data", (data: Buffer) => {
  const lines = (rest + data.toString()).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines.filter((one) => one.includes('"route":"/apps/'))) {
    const { status, time } = JSON.parse(line) as { status: number; time: string };
    log.push({ status, atMs: Date.parse(time) });
  }
});
const home = homes.open(remoteEnv(server));
await home.run(["auth", "token"]);
const flags = ["--batch-size", "1", "--json"];
const start = (name: string) =>
  home.start(["orders", "import", writeOrders(home, name), ...flags], { timeout: 3_600_000 });
const [one, other] = [start("one"), start("other")];
const counts = () => ({
  calls: log.length,
  answered_429: log.filter(({ status }) => status === 429).length,
  most_in_a_second_of_the_clock: mostInSecond(log),
});
if (isKilled) {
  while (log.length < calls / 2) await sleep(20);
  one.kill("SIGKILL");
  const killedMs = Date.now();
  await Promise.all([one, other]);
  const lastMs = log.at(-1)?.atMs ?? 0;
  const used = {
    in_the_first_second: shareUsed(log, killedMs, killedMs + 1_000),
    in_the_second_second: shareUsed(log, killedMs + 1_000, killedMs + 2_000),
    from_then_on: shareUsed(log, killedMs + 2_000, lastMs),
  };
  console.log(JSON.stringify({ ...counts(), share_of_limit_used_after_the_kill: used }));
} else {
  const summaries = (await Promise.all([one, other])).map(({ stdout }) => JSON.parse(String(stdout)) as Summary);
  const begins = summaries.map(({ started_at: at }) => Date.parse(at));
  const ends = summaries.map(({ duration_ms: ms }, at) => (begins[at] ?? 0) + ms);
  const fromMs = Math.max(log[0]?.atMs ?? 0, ...begins);
  const toMs = Math.min(...ends);
  const until = log.filter(({ atMs }) => atMs < toMs).length;
  console.log(
    JSON.stringify({
      ...counts(),
      seconds_together: (toMs - fromMs) / 1_000,
      share_of_limit_used: shareUsed(log, fromMs, toMs),
      part_of_the_first_to_end: Number((calls / until).toFixed(3)),
      throttled: summaries.map((summary) => summary.calls.throttled),
      retried: summaries.map((summary) => summary.calls.retried),
    }),
  );
}
await server.stop();
homes.remove();
