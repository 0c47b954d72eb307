import autocannon from "autocannon";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { realistic, writeOrders } from "./import/files.ts";
import { median } from "./support/measure.ts";
import { fillReviewStore, type ReviewStore } from "./support/review-store.ts";

/**
 * Compares `starpost serve` with a bare fastify route that returns a body of the same size, in one
 * interleaved run. `--reviews` and `--rounds` set the size; `--only reads|creates|import|pages` runs one part;
 * `--database` serves the given database instead of a new SQLite file.
 */
const { values: flags } = parseArgs({
  options: {
    reviews: { type: "string", default: "100000" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "5" },
    only: { type: "string" },
    database: { type: "string" },
    folder: { type: "string", default: join(tmpdir(), "starpost-bench") },
  },
});
const rounds = Number(flags.rounds);
const duration = Number(flags.seconds);
const program = resolve("bin/starpost.js");
const connections = 8;

mkdirSync(flags.folder, { recursive: true });
const folder = mkdtempSync(join(flags.folder, "serve-"));
const database = flags.database ?? join(folder, "starpost.db");
const running: ChildProcess[] = [];

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Starts a server and reads the address from its first line. */
async function start(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  running.push(child);
  return new Promise((listening, failed) => {
    child.stdout?.once("data", (data: Buffer) => {
      const address = /http:\/\/[\d.:]+/.exec(data.toString())?.[0];
      if (address) listening(address);
      else failed(new Error(data.toString()));
    });
    child.once("exit", (code) => failed(new Error(`${args.join(" ")} ended with ${code}`)));
  });
}

function environment({ sealingKey }: ReviewStore): Record<string, string> {
  return { STARPOST_HOME: folder, STARPOST_DATABASE: database, STARPOST_KEY: sealingKey };
}

async function load(url: string, requests: autocannon.Request[], seconds = duration): Promise<autocannon.Result> {
  const result = await autocannon({ url, connections, duration: seconds, requests });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} failed`);
  }
  return result;
}

/** Runs two loads in turn and prints the median of each and of their ratios. */
async function compare(
  title: string,
  ours: () => Promise<autocannon.Result>,
  bare: () => Promise<autocannon.Result>,
): Promise<void> {
  const pairs: [number, number][] = [];
  for (let round = 0; round < rounds; round += 1) {
    pairs.push([(await ours()).requests.average, (await bare()).requests.average]);
  }
  const [own, other] = [median(pairs.map(([a]) => a)), median(pairs.map(([, b]) => b))];
  const ratio = median(pairs.map(([a, b]) => a / b));
  say(`${title}: ${own.toFixed(0)} requests/s, bare ${other.toFixed(0)}, ratio ${ratio.toFixed(2)}`);
}

async function getText(url: string): Promise<string> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
  return answer.text();
}

/** Starts the bare server with the response body of one of our URLs. */
async function startBare(name: string, body: string): Promise<string> {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, body);
  return start([join(import.meta.dirname, "support/bare-server.js"), path]);
}

function widgetPath({ appKey }: ReviewStore, product: number, query = ""): string {
  return `/v1/widget/${appKey}/products/p${product}/reviews.json${query}`;
}

async function benchReads(store: ReviewStore, url: string): Promise<void> {
  const body = await getText(url + widgetPath(store, 1));
  say(`a widget page of 10 reviews is ${Buffer.byteLength(body)} bytes`);
  const bare = await startBare("widget", body);
  const pages = Array.from({ length: store.products * 5 }, (_, at) => ({
    path: widgetPath(store, 1 + (at % store.products), `?page=${1 + Math.floor(at / store.products)}`),
  }));
  const again = pages.slice(0, 200);
  await compare(
    `widget reads over ${flags.reviews} reviews, 200 pages repeatedly`,
    () => load(url, again),
    () => load(bare, again),
  );
  await compare(
    `the same for each of ${pages.length} pages in turn, to defeat the cache`,
    () => load(url, pages),
    () => load(bare, pages),
  );
}

async function benchCreates(store: ReviewStore, url: string, utoken: string): Promise<void> {
  const bare = await startBare("created", JSON.stringify({ code: 200, message: "OK" }));
  let made = 0;
  const request = () => ({
    method: "POST" as const,
    path: `/apps/${store.appKey}/purchases`,
    headers: { "content-type": "application/json" },
    setupRequest: (sent: autocannon.Request): autocannon.Request => {
      made += 1;
      return { ...sent, body: JSON.stringify(anOrder(made, utoken)) };
    },
  });
  await compare(
    "single order creates",
    () => load(url, [request()]),
    () => load(bare, [request()]),
  );
}

function anOrder(at: number, utoken: string): Record<string, unknown> {
  const product = { name: "Product", url: "https://shop.example/p", image: "", price: "10.00" };
  return {
    utoken,
    platform: "general",
    email: `buyer${at}@mail.example`,
    customer_name: `Buyer ${at}`,
    order_id: `bench-${at}`,
    order_date: "2026-01-01",
    validate_data: true,
    products: { [`p${1 + (at % 1_000)}`]: product },
  };
}

async function benchDuringImport(store: ReviewStore, url: string): Promise<void> {
  const requests = Array.from({ length: 200 }, (_, at) => ({ path: widgetPath(store, 1 + at * 5) }));
  const quiet = await load(url, requests);
  const path = writeOrders(folder, realistic(1_000_000));
  const home = { ...environment(store), PATH: process.env["PATH"] ?? "" };
  const importing = spawn(process.execPath, [program, "orders", "import", path, "--quiet"], {
    env: home,
    stdio: "ignore",
  });
  let isOver = false;
  importing.once("exit", () => (isOver = true));
  const busy = await load(url, requests, duration * 2);
  if (isOver) throw new Error("the import was over before the reads were");
  importing.kill("SIGTERM");
  await new Promise((ended) => importing.once("exit", ended));
  say(
    `widget reads, p50 and p99: ${quiet.latency.p50} and ${quiet.latency.p99} ms; while another process imports: ` +
      `${busy.latency.p50} and ${busy.latency.p99} ms`,
  );
}

/** Returns the median time of sequential requests to two URLs in turn. */
async function benchPages(store: ReviewStore, url: string, utoken: string): Promise<void> {
  const lists: [string, (page: number) => string][] = [
    ["widget", (page) => widgetPath(store, 0, `?page=${page}`)],
    ["widget, middle of sort=votes_up", (page) => widgetPath(store, 0, `?sort=votes_up&page=${Math.ceil(page / 2)}`)],
    ["account reviews", (page) => `/v1/apps/${store.appKey}/reviews?utoken=${utoken}&page=${page}`],
  ];
  for (const [name, pathOf] of lists) {
    const took: Record<number, number[]> = { 1: [], 5000: [] };
    for (let round = 0; round < 300; round += 1) {
      for (const page of [1, 5_000]) {
        const startedMs = performance.now();
        await getText(url + pathOf(page));
        took[page]?.push(performance.now() - startedMs);
      }
    }
    const [first, last] = [median(took[1] ?? []), median(took[5_000] ?? [])];
    say(`${name}: page 1 ${first.toFixed(2)} ms, page 5,000 ${last.toFixed(2)} ms, ratio ${(last / first).toFixed(2)}`);
  }
}

async function issueToken(url: string, { appKey, secret }: ReviewStore): Promise<string> {
  const answer = await fetch(`${url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_id: appKey, client_secret: secret, grant_type: "client_credentials" }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

try {
  say(`filling the database with ${flags.reviews} reviews …`);
  const store = await fillReviewStore(database, Number(flags.reviews));
  const serve = [program, "serve", "--port", "0", "--json", "--quiet"];
  const url = await start(serve, environment(store));
  const utoken = await issueToken(url, store);
  const isWanted = (part: string) => flags.only === undefined || flags.only === part;
  if (isWanted("reads")) await benchReads(store, url);
  if (isWanted("pages")) await benchPages(store, url, utoken);
  if (isWanted("creates")) await benchCreates(store, url, utoken);
  if (isWanted("import")) await benchDuringImport(store, url);
} finally {
  for (const child of running) child.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
}
