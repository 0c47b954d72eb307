import { type CompiledQuery, sql, type Transaction } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { siteTarget } from "../../../src/engine/reviews/rating-targets.ts";
import { reindexReviews } from "../../../src/engine/reviews/review-index.ts";
import type { InputOf } from "../../../src/service/transport.ts";
import { batchRows } from "../../../src/storage/batch.ts";
import { PipelinedConnection } from "../../../src/storage/postgres/pipelined-connection.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import type { Tables } from "../../../src/storage/tables.ts";
import { engines, type Harness, type TestAccount } from "../../support/backends.ts";

type Query = InputOf<"reviews.search">;
type Statement = Pick<CompiledQuery, "sql" | "parameters">;

const count = 12_000;
/** Rows and index entries that a statement may read. */
const maxRead = 2_500;
const products = 20;
const authors = 300;
const startMs = Date.UTC(2026, 0, 1);
const minutesLater = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString();

/** Each is met by other records, so that no filter implies another one. */
const filters: Readonly<Record<string, Query>> = {
  product: { product_id: "p1" },
  site: { product_id: "service_site_reviews" },
  score: { score: "1,2" },
  held: { state: "held" },
  since: { since_date: minutesLater(count - 500) },
  until: { until_date: minutesLater(500) },
  "long range": { since_date: minutesLater(1_000), until_date: minutesLater(count - 1_000) },
  images: { with_images: true },
  unanswered: { unanswered: true },
  "common word": { search: "every2" },
  "rare word": { search: "every997" },
  phrase: { search: '"every2 every3"' },
  oldest: { sort: "oldest" },
  email: { email: "s7@mail.example" },
};

/** Each filter alone, and with each other one for another field. */
const pairs = Object.entries(filters).flatMap(([name, filter], at, all) => {
  const others = all.slice(at + 1).filter(([, other]) => !Object.keys(other).some((key) => key in filter));
  const both: [string, Query][] = [[name, filter]];
  for (const [other, value] of others) both.push([`${name}, ${other}`, { ...filter, ...value }]);
  return both;
});

const columns = {
  id: "integer",
  product_row: "integer",
  user_row: "integer",
  content: "text",
  score: "integer",
  published: "integer",
  moderation: "text",
  comment: "text",
  images: "integer",
  created_at: "integer",
} as const;

/** Fills the account with reviews; their times do not follow their IDs. */
async function fill({ database: { db, dialect } }: Harness, accountId: number): Promise<void> {
  const numbers = (length: number) =>
    batchRows<{ id: number }>(
      { id: "integer" },
      Array.from({ length }, (_, at) => [1_000 + at]),
      dialect,
    );
  await sql`insert into products (id, account_id, product_id, name, url, created_at, updated_at)
    select id, ${accountId}, 'p' || (id - 1000), '', '', 0, 0 from ${numbers(products)} where true`.execute(db);
  await sql`insert into users (id, account_id, email, email_key, display_name, kind, password_hash, url, slug, created_at)
    select id, ${accountId}, 's' || (id - 1000) || '@mail.example', 's' || (id - 1000) || '@mail.example', '', 'shopper', '', '',
      's' || id, 0 from ${numbers(authors)} where true`.execute(db);
  const rows = Array.from({ length: count }, (_, at) => {
    const words = [2, 3, 50, 997].filter((every) => at % every === 0).map((every) => `every${every}`);
    return [
      1 + at,
      at % 7 === 0 ? null : 1_000 + (Math.floor(at / 3) % products),
      1_000 + (at % authors),
      words.join(" "),
      1 + (Math.floor(at / 7) % 5),
      at % 31 === 0 ? 0 : 1,
      at % 31 === 0 ? "held" : null,
      at % 11 === 0 ? null : "Thanks",
      at % 41 === 0 ? 1 : 0,
      startMs + ((at * 7) % count) * 60_000,
    ];
  });
  const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
  await sql`insert into reviews (account_id, rating_target, title, reviewer_type, votes_up, votes_down, updated_at, ${names})
    select ${accountId}, coalesce('p' || product_row, ${siteTarget(accountId)}), '', 'verified_buyer', 0, 0, 0, ${names}
    from ${batchRows(columns, rows, dialect)} where true`.execute(db);
  const ids = rows.map(([id]) => Number(id));
  await reindexReviews({ ids }, accountId, { transaction: db as Transaction<Tables>, dialect });
  await sql`analyze`.execute(db);
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

function countRead(node: PlanNode): number {
  const read =
    node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  const isScan = node["Node Type"].includes("Scan") && node["Node Type"] !== "Subquery Scan";
  const below = (node.Plans ?? []).map(countRead).reduce((sum, rows) => sum + rows, 0);
  return below + (isScan ? read * node["Actual Loops"] : 0);
}

/**
 * The rows and index entries that PostgreSQL reads to execute each statement. It may not sort matches where an index has them in
 * order, which is only faster if there are few.
 */
async function countRows({ database: { db } }: Harness, statements: readonly Statement[]): Promise<readonly number[]> {
  return db.transaction().execute(async (transaction) => {
    await sql`set local enable_sort = off`.execute(transaction);
    await sql`set local jit = off`.execute(transaction);
    const explained = statements.map(({ sql: text, parameters }) => {
      const query = { ...sql`select`.compile(transaction), sql: `explain (analyze, format json) ${text}`, parameters };
      return transaction.executeQuery<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(query);
    });
    const plans = await Promise.all(explained);
    return plans.map(({ rows }) => rows.reduce((sum, row) => sum + countRead(row["QUERY PLAN"][0].Plan), 0));
  });
}

/** For each statement, the steps in which SQLite reads reviews or their words without an index. */
function findScans({ database }: Harness, statements: readonly Statement[]): readonly (readonly string[])[] {
  const file = new SqliteFile(database.shownAs);
  const scans = statements.map(({ sql: text, parameters }) => {
    const plan = file.all(`explain query plan ${text}`, parameters as (string | number)[]);
    const steps = plan.map(({ detail }) => String(detail));
    return steps.filter((step) => /^SCAN (?:reviews|review_words)(?!.* VIRTUAL TABLE INDEX \d+:M)/.test(step));
  });
  file.close();
  return scans;
}

/** The statements of `run` that find the IDs of reviews. */
async function record(run: () => Promise<unknown>): Promise<readonly Statement[]> {
  const onSqlite = vi.spyOn(SqliteFile.prototype, "all");
  const onServer = vi.spyOn(PipelinedConnection.prototype, "executeQuery");
  await run();
  const ran: Statement[] = [
    ...onSqlite.mock.calls.map(([text, parameters = []]) => ({ sql: text, parameters })),
    ...onServer.mock.calls.map(([query]) => query),
  ];
  vi.restoreAllMocks();
  return ran.filter(
    (query) => /\b(?:reviews|review_words)\b/.test(query.sql) && !query.sql.includes("users_display_name"),
  );
}

describe.each(engines)("searches on $name", ({ name, open }) => {
  let harness: Harness;
  let account: TestAccount;

  beforeAll(async () => {
    harness = await open();
    account = await harness.newAccount();
    await fill(harness, await harness.newestAccountId());
  }, 60_000);
  afterAll(() => harness.close());

  it("use an index for every pair of filters, and read a small part of the reviews", async () => {
    const recorded: (readonly [string, Statement])[] = [];
    for (const [filter, query] of pairs) {
      const statements = await record(() => account.service.reviews.search(query));
      expect(statements).not.toEqual([]);
      recorded.push(...statements.map((statement) => [filter, statement] as const));
    }
    const statements = recorded.map(([, statement]) => statement);
    const reads = name === "local-sqlite" ? findScans(harness, statements) : await countRows(harness, statements);
    const slow = reads.flatMap((read, at) => {
      const isFast = typeof read === "number" ? read <= maxRead : read.length === 0;
      return isFast ? [] : [[recorded[at]?.[0], read]];
    });
    expect(slow).toEqual([]);
  });
});
