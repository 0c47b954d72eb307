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
import { createService } from "../../src/service/service.ts";
import type { InputOf } from "../../src/service/transport.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { Client } from "pg";
import { corpus, createRandom, fillCorpus, wordOf } from "./search/review-corpus.ts";

/**
 * Measures `reviews.search` in the engine, on SQLite and on the PostgreSQL server of STARPOST_TEST_POSTGRES. `--reviews` sets
 * the size of the account, `--rounds` the number of calls per filter, `--only` the database, `--sqlite` a file and
 * `--postgres` the name of a database that are kept and used again, `--filter` the filters whose names contain a text, and
 * `--check` fails above 50 ms.
 */
const { values: flags } = parseArgs({
  options: {
    reviews: { type: "string", default: "1000000" },
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

const random = createRandom(7);
const below = (count: number) => Math.floor(count * random());
const day = (ms: number) => new Date(ms).toISOString();
const daysBeforeEnd = (days: number) => day(corpus.endMs - days * 86_400_000);
/** Words of all frequencies. */
const anyWord = () => wordOf(Math.floor(corpus.words ** random()));

const queries: Readonly<Record<string, () => Query>> = {
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

const at = (sorted: readonly number[], part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;

async function measure(name: string, database: Database): Promise<number> {
  const clock = () => corpus.endMs;
  const sealer = createSealer(Buffer.alloc(32, 1));
  const { appKey, secret } = await ensureFirstAccount(database, { sealer, clock, random: randomBytes });
  const { rows } = await sql<{ found: number }>`select count(*) as found from reviews`.execute(database.db);
  if (Number(rows[0]?.found) === 0) {
    const startedMs = performance.now();
    await fillCorpus(database, Number(flags.reviews));
    console.error(`${name}: filled in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
  }
  const transport = createLocalTransport({ database, clock, random: randomBytes, sealer, enforceLimits: false });
  const { access_token } = await createService(transport, { appKey }).tokens.create({
    client_id: appKey,
    client_secret: secret,
    grant_type: "client_credentials",
  });
  const { reviews } = createService(transport, { appKey, utoken: access_token });
  let slow = 0;
  for (const [filter, create] of Object.entries(queries)) {
    if (!filter.includes(flags.filter)) continue;
    const times: number[] = [];
    let found = 0;
    for (let round = 0; round < Number(flags.rounds); round++) {
      const query = create();
      const startedMs = performance.now();
      found += (await reviews.search(query)).reviews.length;
      times.push(performance.now() - startedMs);
    }
    const sorted = times.toSorted((a, b) => a - b);
    const [p50, p95, max] = [at(sorted, 0.5), at(sorted, 0.95), at(sorted, 1)].map((ms) => ms.toFixed(1));
    console.log(`| ${name} | \`${filter}\` | ${p50} | ${p95} | ${max} | ${(found / times.length).toFixed(1)} |`);
    if (at(sorted, 0.95) > limitMs) slow++;
  }
  await transport.close();
  return slow;
}

console.log("| database | filters | p50 ms | p95 ms | maximum ms | results |\n|---|---|---|---|---|---|");
let slow = 0;
if ("sqlite".includes(flags.only)) {
  const folder = await mkdtemp(join(tmpdir(), "starpost-bench-"));
  slow += await measure("SQLite", await openDatabase(flags.sqlite ?? join(folder, "starpost.db"), { nowMs: 0 }));
  rmSync(folder, { recursive: true });
}
if ("postgres".includes(flags.only)) {
  const server = process.env["STARPOST_TEST_POSTGRES"] ?? "";
  const name = flags.postgres ?? `starpost_bench_search_${process.pid}`;
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
    slow += await measure("PostgreSQL", await openDatabase(url.href, { nowMs: 0 }));
  } finally {
    if (flags.postgres === undefined) await onServer(`drop database ${name} with (force)`);
  }
}
if (flags.check && slow > 0) throw new Error(`the 95th percentile of ${slow} filters is above ${limitMs} ms`);
