import { readFileSync } from "node:fs";
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import type { OperationName } from "../../src/contract/index.ts";
import { hashToken } from "../../src/engine/kernel/credentials.ts";

type OldRow = Readonly<Record<string, string | number | null>>;

/** A database as starpost stored it when accounts were not part of all keys, and what its operations responded. */
interface OldShop {
  readonly sealingKey: string;
  readonly nowMs: number;
  /** Callers with tokens, by the number in `answers`. */
  readonly accounts: readonly { readonly appKey: string; readonly utoken: string }[];
  readonly rows: Readonly<Record<string, readonly OldRow[]>>;
  readonly answers: readonly (readonly [
    account: number,
    name: OperationName,
    input: Readonly<Record<string, unknown>>,
    answer: unknown,
  ])[];
}

export const oldShop = JSON.parse(readFileSync("fixtures/databases/schema-15.json", "utf8")) as OldShop;

/** The account of `insertLargeShop`, and its credentials. */
export const largeShop = { id: 100, appKey: "large shop", utoken: "token of the large shop" } as const;

/** Above all other IDs. */
const firstId = 10_000;

/** Inserts the rows of `oldShop`. */
export async function insertOldShop(db: Kysely<never>): Promise<void> {
  const { accounts = [], ...others } = oldShop.rows;
  for (const [table, rows] of Object.entries({ accounts, ...others })) {
    for (const row of rows) {
      const values = Object.values(row).map((value) => sql.val(value));
      await insert(db, table, Object.keys(row), sql`values (${sql.join(values)})`);
    }
  }
}

/** PostgreSQL generates the IDs of these tables, unless a statement overrides them. */
async function insert(
  db: Kysely<never>,
  table: string,
  columns: readonly string[],
  source: RawBuilder<unknown>,
): Promise<void> {
  const names = sql.join(columns.map((name) => sql.ref(name)));
  const overriding = isPostgres(db) && columns.includes("id") ? sql`overriding system value` : sql``;
  await sql`insert into ${sql.table(table)} (${names}) ${overriding} ${source}`.execute(db);
}

function isPostgres(db: Kysely<never>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** The numbers of records of the large shop. */
export function countLargeShop(orders: number) {
  const few = Math.max(2, orders / 100);
  return { products: few, questions: few, reviews: Math.max(2, orders / 10) };
}

/**
 * Inserts an account with the given number of orders of two products each, an email per order, and for every ten orders a
 * review, and whatever belongs to them.
 */
export async function insertLargeShop(db: Kysely<never>, orders: number): Promise<void> {
  const { nowMs } = oldShop;
  const { id, appKey, utoken } = largeShop;
  const account = { id, app_key: appKey, secret_sealed: oldShop.rows["accounts"]?.[0]?.["secret_sealed"] ?? "" };
  const token = {
    id: firstId,
    account_id: id,
    token_hash: hashToken(utoken),
    created_at: nowMs,
    expires_at: nowMs + 1e9,
  };
  const all = [
    ["accounts", { ...account, created_at: nowMs }],
    ["utokens", token],
    ["email_permissions", { account_id: id, enabled_at: nowMs }],
    [
      "webhooks",
      { id: firstId, account_id: id, url: "u", event_name: "review_create", secret_sealed: "s", created_at: nowMs },
    ],
  ] as const;
  for (const [table, row] of all) {
    await insert(
      db,
      table,
      Object.keys(row),
      sql`values (${sql.join(Object.values(row).map((value) => sql.val(value)))})`,
    );
  }
  for (const table of largeTables(orders)) await insertMany(db, table);
  await insertTotals(db);
  if (isPostgres(db)) await moveSequences(db);
}

/** Inserts rows whose values are expressions of `n`, which counts from 1. */
async function insertMany(db: Kysely<never>, { table, count, columns, values }: LargeTable): Promise<void> {
  const select = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
    select ${values} from numbers`;
  await insert(db, table, columns.split(", "), sql.raw(select));
}

interface LargeTable {
  readonly table: string;
  readonly count: number;
  readonly columns: string;
  readonly values: string;
}

function largeTables(orders: number): LargeTable[] {
  const { products, reviews, questions } = countLargeShop(orders);
  const created = `${oldShop.nowMs} - n * 10000`;
  const product = `${firstId} + 1 + n % ${products}`;
  const email = "'buyer' || n || '@mail.example'";
  const define = (table: string, count: number, columns: string, values: string) => {
    const owned = [`account_id, ${columns}`, `${largeShop.id}, ${values}`] as const;
    if (columns.includes("order_row, email_key")) return { table, count, columns: owned[0], values: owned[1] };
    return { table, count, columns: `id, ${owned[0]}`, values: `${firstId} + n, ${owned[1]}` };
  };
  const row = `${firstId} + n`;
  return [
    define(
      "products",
      products,
      "product_id, name, url, created_at, updated_at",
      `'p' || n, 'Product ' || n, 'https://shop.example/', ${created}, n`,
    ),
    define(
      "orders",
      orders,
      "order_id, platform, email, customer_name, order_date, created_at, sends_mail",
      `'large-' || n, 'general', ${email}, 'Buyer ' || n, ${created}, ${created}, 1`,
    ),
    define(
      "purchases",
      2 * orders,
      "order_row, product_row, unit, price, created_at",
      `${firstId} + (n + 1) / 2, ${product}, 1, '9.90', ${created}`,
    ),
    define("order_emails", orders, "order_row, email_key", `${row}, ${email}`),
    define(
      "mails",
      orders,
      "category, email_type_id, email, email_key, name, data, state, due_at, sent_at, created_at, order_row, product_row",
      `'map', 1, ${email}, ${email}, 'Buyer', '{}', 'sent', ${created}, ${created}, ${created}, ${row}, 0`,
    ),
    define(
      "mail_events",
      reviews,
      "mail_row, event, event_key, occurred_at, created_at",
      `${row}, 'delivered', 'e' || n, ${created}, ${created}`,
    ),
    define(
      "users",
      reviews,
      "email, email_key, display_name, password_hash, url, slug, kind, created_at",
      `${email}, ${email}, 'Buyer ' || n, '', '', 'large-buyer-' || n, 'shopper', ${created}`,
    ),
    define(
      "reviews",
      reviews,
      `product_row, shelf, user_row, title, content, score, reviewer_type, published, votes_up, votes_down, images, moderation, created_at, updated_at`,
      `${product}, 'p' || (${product}), ${row}, 'Title ' || n, 'Content', 1 + n / ${products} % 5, 'verified_buyer', 1, 1, 0, 0, 'published', ${created}, ${created}`,
    ),
    define(
      "review_events",
      reviews,
      "review_row, event, by_name, created_at",
      `${row}, 'imported', 'ADMIN', ${created}`,
    ),
    define("votes", reviews, "target, target_row, direction, created_at", `'review', ${row}, 'up', ${created}`),
    define(
      "bottom_line_changes",
      reviews,
      "shelf, reviews, score, applied, changed_at",
      `'p' || (${product}), 1, 1 + n / ${products} % 5, 1, ${created}`,
    ),
    define(
      "questions",
      questions,
      "product_row, user_row, content, content_key, user_type, state, created_at, confirmed_at",
      `${product}, ${row}, 'Question ' || n, 'key ' || n, 'User', 'public', ${created}, ${created}`,
    ),
    define(
      "answers",
      questions,
      "question_row, user_row, content, by_store, published, votes_up, votes_down, created_at",
      `${row}, ${row}, 'Answer', 1, 1, 0, 0, ${created}`,
    ),
    define("coupons", reviews, "action, code, created_at", `'map_review', 'CODE' || n, ${created}`),
    define(
      "unsubscribers",
      reviews,
      "email, email_key, email_type_id, by_name, created_at",
      `${email}, ${email}, 1, 'USER', ${created}`,
    ),
    define(
      "missed_products",
      questions,
      "order_id, product_sku, product_name, user_email, user_name, order_date, created_at",
      `'large-' || n, 'bad id', 'Product', ${email}, 'Buyer', ${created}, ${created}`,
    ),
    define(
      "webhook_deliveries",
      reviews,
      "webhook_row, event_id, event_name, body, state, due_at, delivered_at, attempts, created_at",
      `${firstId}, 'evt_' || n, 'review_create', '{}', 'delivered', ${created}, ${created}, 1, ${created}`,
    ),
    define(
      "webhook_attempts",
      reviews,
      "delivery_row, worker, started_at, duration_ms, status",
      `${row}, 'one', ${created}, 5, 200`,
    ),
    define(
      "idempotent_calls",
      questions,
      "key_hash, input_hash, response, created_at",
      `'key ' || n, 'input', '{}', ${created}`,
    ),
  ];
}

/** Inserts the rows that the engine derives from others. */
async function insertTotals(db: Kysely<never>): Promise<void> {
  const account = sql.lit(largeShop.id);
  const stars = [1, 2, 3, 4, 5].map((star) => sql`sum(case when score = ${sql.lit(star)} then 1 else 0 end)`);
  const totals = (target: RawBuilder<unknown>, product: RawBuilder<unknown>, listed: RawBuilder<unknown>) => sql`
    insert into review_totals (account_id, shelf, product_row, stars_1, stars_2, stars_3, stars_4, stars_5,
      shown_reviews, shown_score, listed, updated_at)
    select ${account}, ${target}, ${product}, ${sql.join(stars)}, count(*), sum(score), ${listed}, max(created_at)
    from reviews where account_id = ${account} group by ${target}, ${product}`;
  await totals(sql`shelf`, sql`product_row`, sql`1`).execute(db);
  await sql`insert into question_totals (account_id, product_row, questions, answers)
    select account_id, product_row, count(*), count(*) from questions
    where account_id = ${account} group by account_id, product_row`.execute(db);
  await sql`insert into purchase_days (account_id, day, first_id, purchases)
    select account_id, created_at / 86400000, min(id), count(*) from purchases
    where account_id = ${account} group by account_id, created_at / 86400000`.execute(db);
}

/** Lets PostgreSQL continue after the greatest ID. */
async function moveSequences(db: Kysely<never>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'id' and is_identity = 'YES'`.execute(db);
  for (const { name } of rows) {
    await sql`select setval(pg_get_serial_sequence(${name}, 'id'),
      coalesce((select max(id) from ${sql.table(name)}), 0) + 1, false)`.execute(db);
  }
}
