import { execSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { ensureFirstAccount } from "../../src/engine/accounts/first-account.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { createService, type Service } from "../../src/service/service.ts";
import type { InputOf } from "../../src/service/transport.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { Client } from "pg";
import { customerOf, fillOrders, orderIdOf, shop } from "./search/order-corpus.ts";
import { corpus, createRandom, fillCorpus, wordOf } from "./search/review-corpus.ts";

/**
 * Measures searches in the engine, on SQLite and on the PostgreSQL server of STARPOST_TEST_POSTGRES: of reviews, and of orders,
 * customers, and other records by a part of their texts. `--reviews` and `--orders` set the sizes of the accounts (0: none),
 * `--rounds` the number of calls per filter, `--only` the database, `--sqlite` a file and `--postgres` the name of a database
 * that are kept and used again, `--filter` the filters whose names contain a text, `--before` a command that is run before
 * each call, such as one that empties caches, with new connections, and `--check` fails above 50 ms.
 */
const { values: flags } = parseArgs({
  options: {
    reviews: { type: "string", default: "1000000" },
    orders: { type: "string", default: "1000000" },
    before: { type: "string" },
    rounds: { type: "string", default: "100" },
    only: { type: "string", default: "" },
    sqlite: { type: "string" },
    postgres: { type: "string" },
    filter: { type: "string", default: "" },
    check: { type: "boolean", default: false },
  },
});

const limitMs = 50;
type Query = InputOf<"reviews.search">;
/** Makes a call, and returns the number of results. */
type Search = (service: Service) => Promise<number>;

/** An account, and the searches that are measured in it. */
interface Suite {
  readonly size: number;
  readonly table: "reviews" | "orders";
  readonly fill: (database: Database, size: number) => Promise<void>;
  readonly searches: Readonly<Record<string, Search>>;
  /** Searches by which everything is indexed. */
  readonly first: readonly Search[];
}

const random = createRandom(7);
const below = (count: number) => Math.floor(count * random());
const day = (ms: number) => new Date(ms).toISOString();
const daysBeforeEnd = (days: number) => day(corpus.endMs - days * 86_400_000);
/** Words of all frequencies. */
const anyWord = () => wordOf(Math.floor(corpus.words ** random()));

const reviewQueries: Readonly<Record<string, () => Query>> = {
  "no filter": () => ({}),
  "--email": () => ({ email: `s${1 + below(corpus.shoppers)}@mail.example` }),
  "--product": () => ({ product_id: `p${1 + below(corpus.products)}` }),
  "--product (most reviews)": () => ({ product_id: "p1" }),
  "--product service_site_reviews": () => ({ product_id: "service_site_reviews" }),
  "--order": () => ({ order_id: `o${1 + below(1_000)}` }),
  "--score 1..2": () => ({ score: "1,2" }),
  "--score 3": () => ({ score: "3" }),
  "--state held": () => ({ state: "held" }),
  "--state held,unpublished": () => ({ state: "held,unpublished" }),
  "--since 7d": () => ({ since_date: daysBeforeEnd(7) }),
  "--since --until": () => {
    const from = corpus.startMs + random() * (corpus.endMs - corpus.startMs);
    return { since_date: day(from), until_date: day(from + 30 * 86_400_000) };
  },
  "--with-images": () => ({ with_images: true }),
  "--unanswered": () => ({ unanswered: true }),
  "--search (any word)": () => ({ search: anyWord() }),
  "--search (most common word)": () => ({ search: wordOf(1) }),
  "--search (two words)": () => ({ search: `${anyWord()} ${anyWord()}` }),
  "--search (rare words)": () => ({ search: `${wordOf(1_000 + below(40_000))} ${wordOf(1_000 + below(40_000))}` }),
  '--search ("phrase")': () => ({ search: `"${wordOf(1 + below(5))} ${wordOf(1 + below(5))}"` }),
  "--unanswered --score 1..2": () => ({ unanswered: true, score: "1,2" }),
  "--product --score 1..2": () => ({ product_id: `p${1 + below(corpus.products)}`, score: "1,2" }),
  "--product --unanswered": () => ({ product_id: "p1", unanswered: true }),
  "--product --search": () => ({ product_id: `p${1 + below(corpus.products)}`, search: anyWord() }),
  "--product (most reviews) --search": () => ({ product_id: "p1", search: anyWord() }),
  "--score 1..2 --since 7d": () => ({ score: "1,2", since_date: daysBeforeEnd(7) }),
  "--score 1 --since 7d --sort oldest": () => ({ score: "1", since_date: daysBeforeEnd(7), sort: "oldest" }),
  "--score 1..2 --search": () => ({ score: "1,2", search: anyWord() }),
  "--unanswered --search": () => ({ unanswered: true, search: anyWord() }),
  "--state held --search": () => ({ state: "held", search: anyWord() }),
  "--since 7d --search": () => ({ since_date: daysBeforeEnd(7), search: anyWord() }),
  "--since 365d --search": () => ({ since_date: daysBeforeEnd(365), search: anyWord() }),
  "--with-images --search": () => ({ with_images: true, search: anyWord() }),
  "--with-images --score 1": () => ({ with_images: true, score: "1" }),
  "--email --search": () => ({ email: `s${1 + below(corpus.shoppers)}@mail.example`, search: anyWord() }),
};

const searchReviews =
  (create: () => Query): Search =>
  async ({ reviews }) =>
    (await reviews.search(create())).reviews.length;

const customer = () => customerOf(below(shop.customers));
const orderId = () => orderIdOf(1 + below(Number(flags.orders)));
const limit = 20;
const partOf = (text: string, length: number) => text.slice(1, 1 + length);

/** Parts of texts, most of which are found; the last ones are rare, or in most records. */
const parts: Readonly<Record<string, () => string>> = {
  address: () => customer().email,
  name: () => customer().name,
  "part of an address": () => partOf(customer().email, 8),
  "part of a name": () => partOf(customer().name, 5),
  "three characters": () => partOf(customer().name, 3),
  "order number": orderId,
  "part of an order number": () => orderId().slice(-5),
  domain: () => "@gmail.example",
  "not found": () => "zzyzx@nowhere",
};

const recordSearches: Readonly<Record<string, (search: string) => Search>> = {
  "customers find":
    (search) =>
    async ({ customers }) =>
      (await customers.find({ search, limit })).customers.length,
  "orders list":
    (search) =>
    async ({ orders }) =>
      (await orders.search({ search, limit })).purchases.length,
  "mail list":
    (search) =>
    async ({ emails }) =>
      (await emails.list({ search, count: limit })).mails.length,
};

const suites: readonly Suite[] = [
  {
    size: Number(flags.reviews),
    table: "reviews",
    fill: fillCorpus,
    searches: Object.fromEntries(Object.entries(reviewQueries).map(([name, query]) => [name, searchReviews(query)])),
    first: [],
  },
  {
    size: Number(flags.orders),
    table: "orders",
    fill: fillOrders,
    searches: {
      ...Object.fromEntries(
        Object.entries(recordSearches).flatMap(([command, search]) =>
          Object.entries(parts).map(([name, part]) => [
            `${command}: ${name}`,
            (service: Service) => search(part())(service),
          ]),
        ),
      ),
      "unsubscribers list: part of an address": async ({ unsubscribers }) =>
        (await unsubscribers.search({ search: partOf(customer().email, 8), limit })).unsubscribers.length,
      "products list: ID": async ({ products }) =>
        (await products.search({ search: `sku-${1 + below(shop.products)}`, limit })).products.length,
      "coupons list: part of a code": async ({ coupons }) =>
        (await coupons.search({ search: String(1_000 + below(9_000)), limit })).coupons.length,
    },
    first: [
      ...Object.values(recordSearches).map((search) => search("indexed")),
      async ({ products }) => (await products.search({ search: "indexed" })).products.length,
      async ({ coupons }) => (await coupons.search({ search: "indexed" })).coupons.length,
    ],
  },
];

const at = (sorted: readonly number[], part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;

interface Opened {
  readonly service: Service;
  readonly close: () => Promise<void>;
}

async function openAccount(database: Database): Promise<Opened> {
  const clock = () => corpus.endMs;
  const sealer = createSealer(Buffer.alloc(32, 1));
  const { appKey, secret } = await ensureFirstAccount(database, { sealer, clock, random: randomBytes });
  const transport = createLocalTransport({ database, clock, random: randomBytes, sealer, enforceLimits: false });
  const { access_token } = await createService(transport, { appKey }).tokens.create({
    client_id: appKey,
    client_secret: secret,
    grant_type: "client_credentials",
  });
  return { service: createService(transport, { appKey, utoken: access_token }), close: () => transport.close() };
}

async function readBytes({ db, dialect }: Database): Promise<number> {
  const size =
    dialect.name === "sqlite"
      ? sql<{ bytes: number }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
      : sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`;
  const { rows } = await size.execute(db);
  return Number(rows[0]?.bytes);
}

async function fill(name: string, { table, size, fill: fillTables, first }: Suite, database: Database): Promise<void> {
  const { service } = await openAccount(database);
  const { rows } = await sql<{ found: number }>`select count(*) as found from ${sql.table(table)}`.execute(database.db);
  const startedMs = performance.now();
  if (Number(rows[0]?.found) === 0) await fillTables(database, size);
  const [filledMs, filled] = [performance.now(), await readBytes(database)];
  for (const search of first) await search(service);
  const [seconds, indexed] = [(performance.now() - filledMs) / 1_000, await readBytes(database)];
  const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
  console.error(
    `${name}: filled in ${((filledMs - startedMs) / 1_000).toFixed(0)} s, ${mb(filled)} MB; ` +
      `indexed in ${seconds.toFixed(1)} s, ${mb(indexed - filled)} MB more`,
  );
}

async function measure(name: string, suite: Suite, open: () => Promise<Database>): Promise<number> {
  const database = await open();
  await fill(name, suite, database);
  let account = await openAccount(database);
  const all: { readonly ms: number; readonly found: number }[] = [];
  let slow = 0;
  for (const [filter, search] of Object.entries(suite.searches)) {
    if (!filter.includes(flags.filter)) continue;
    const calls: typeof all = [];
    for (let round = 0; round < Number(flags.rounds); round++) {
      if (flags.before !== undefined) {
        await account.close();
        execSync(flags.before, { stdio: "ignore" });
        account = await openAccount(await open());
      }
      const startedMs = performance.now();
      const found = await search(account.service);
      calls.push({ ms: performance.now() - startedMs, found });
    }
    all.push(...calls);
    if (report(`${name} | \`${filter}\``, calls) > limitMs) slow++;
  }
  if (all.length > 0) report(`${name} | all of them`, all);
  await account.close();
  return slow;
}

/** Prints a row of the table. @returns the 95th percentile, in milliseconds */
function report(title: string, calls: readonly { readonly ms: number; readonly found: number }[]): number {
  const sorted = calls.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const [p50 = 0, p95 = 0, max = 0] = [0.5, 0.95, 1].map((share) => at(sorted, share));
  const found = calls.reduce((sum, call) => sum + call.found, 0) / calls.length;
  console.log(`| ${title} | ${[p50, p95, max, found].map((value) => value.toFixed(1)).join(" | ")} |`);
  return p95;
}

async function onPostgres(name: string, measureAt: (url: string) => Promise<void>): Promise<void> {
  const server = process.env["STARPOST_TEST_POSTGRES"] ?? "";
  const onServer = async (statement: string) => {
    const client = new Client({ connectionString: server });
    await client.connect();
    const { rowCount } = await client.query(statement);
    await client.end();
    return rowCount;
  };
  const isNew = (await onServer(`select 1 from pg_database where datname = '${name}'`)) === 0;
  if (isNew) await onServer(`create database ${name}`);
  try {
    const url = new URL(server);
    url.pathname = name;
    await measureAt(url.href);
  } finally {
    if (flags.postgres === undefined) await onServer(`drop database ${name} with (force)`);
  }
}

console.log("| database | filters | p50 ms | p95 ms | maximum ms | results |\n|---|---|---|---|---|---|");
let slow = 0;
for (const suite of suites.filter(({ size }) => size > 0)) {
  if ("sqlite".includes(flags.only)) {
    const folder = await mkdtemp(join(tmpdir(), "starpost-bench-"));
    const file = flags.sqlite === undefined ? join(folder, "starpost.db") : `${flags.sqlite}-${suite.table}`;
    slow += await measure("SQLite", suite, () => openDatabase(file, { nowMs: 0 }));
    rmSync(folder, { recursive: true });
  }
  if ("postgres".includes(flags.only)) {
    const name = `${flags.postgres ?? `starpost_bench_search_${process.pid}`}_${suite.table}`;
    await onPostgres(name, async (url) => {
      slow += await measure("PostgreSQL", suite, () => openDatabase(url, { nowMs: 0 }));
    });
  }
}
if (flags.check && slow > 0) throw new Error(`the 95th percentile of ${slow} filters is above ${limitMs} ms`);
