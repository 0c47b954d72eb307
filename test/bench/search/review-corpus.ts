import { type Kysely, type RawBuilder, sql } from "kysely";
import { productTarget, siteTarget } from "../../../src/engine/reviews/rating-targets.ts";
import { batchRows } from "../../../src/storage/batch.ts";
import type { Database } from "../../../src/storage/database.ts";
import { indexReviews } from "../../../src/engine/reviews/review-index.ts";
import type { Tables } from "../../../src/storage/tables.ts";

/** The size of everything in the database, and the times of its reviews. */
export const corpus = {
  products: 2_000,
  shoppers: 200_000,
  words: 50_000,
  startMs: Date.UTC(2023, 0, 1),
  endMs: Date.UTC(2026, 0, 1),
} as const;

const insertedAtOnce = 5_000;

/** A generator of the same numbers in every run: mulberry32. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The word of a rank. Word 1 is in most reviews, word 10 in a fifth, word 1,000 in one of 500. */
export const wordOf = (rank: number) => `w${rank}`;

function createText(words: number, random: () => number): string {
  // The frequency of a word is inversely proportional to its rank.
  return Array.from({ length: words }, () => wordOf(Math.floor(corpus.words ** random()))).join(" ");
}

/** A few products have many reviews. */
const drawProduct = (random: () => number) => Math.floor(corpus.products * random() ** 3);

const scores = [1, 1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5];

const reviewColumns = {
  product_row: "integer",
  user_row: "integer",
  rating_target: "text",
  title: "text",
  content: "text",
  score: "integer",
  published: "integer",
  moderation: "text",
  comment: "text",
  images: "integer",
  created_at: "integer",
  order_row: "integer",
} as const;

function createReview(at: number, reviews: number, random: () => number) {
  const product = random() < 0.01 ? null : 1 + drawProduct(random);
  const state = random();
  const hidden = state < 0.01 ? "held" : state < 0.03 ? "unpublished" : null;
  // A tenth was imported, so its IDs do not follow its times.
  const part = random() < 0.1 ? random() : at / reviews;
  return [
    product,
    1 + Math.floor(corpus.shoppers * random()),
    product === null ? siteTarget(1) : productTarget(product),
    createText(2 + Math.floor(4 * random()), random),
    createText(10 + Math.floor(40 * random()), random),
    scores[Math.floor(scores.length * random())] ?? 5,
    hidden === null ? 1 : 0,
    hidden,
    random() < 0.35 ? "Thank you" : null,
    random() < 0.04 ? 1 : 0,
    Math.floor(corpus.startMs + part * (corpus.endMs - corpus.startMs)),
    at % 1_000 === 0 ? 1 + at / 1_000 : null,
  ] as const;
}

function toSearched(id: number, row: ReturnType<typeof createReview>) {
  const [product_row, user, , title, content, score, published, moderation, comment, images, created_at] = row;
  const review = { id, product_row, title, content, score, published, moderation, comment, images, created_at };
  return { review, author: { display_name: `Name${user}` } };
}

async function insert(db: Kysely<Tables>, table: string, fixed: RawBuilder<unknown>, batch: RawBuilder<unknown>) {
  await sql`insert into ${sql.table(table)} ${fixed} from ${batch} where true`.execute(db);
}

async function insertOthers({ db, dialect }: Database, orders: number): Promise<void> {
  const numbers = async (table: string, count: number, fixed: RawBuilder<unknown>) => {
    for (let from = 0; from < count; from += 50_000) {
      const rows = Array.from({ length: Math.min(50_000, count - from) }, (_, at) => [1 + from + at]);
      await insert(db, table, fixed, sql`${batchRows<{ id: number }>({ id: "integer" }, rows, dialect)}`);
    }
  };
  await numbers(
    "products",
    corpus.products,
    sql`(id, account_id, product_id, name, url, created_at, updated_at)
      select id, 1, 'p' || id, 'Product ' || id, 'https://shop.example/' || id, 0, 0`,
  );
  await numbers(
    "users",
    corpus.shoppers,
    sql`(id, account_id, email, email_key, display_name, kind, password_hash, url, slug, created_at)
      select id + 100, 1, 's' || id || '@mail.example', 's' || id || '@mail.example', 'Name' || id, 'shopper', '', '',
        's' || id, 0`,
  );
  await numbers(
    "orders",
    orders,
    sql`(id, account_id, order_id, platform, email, customer_name, order_date, created_at)
      select id, 1, 'o' || id, 'general', 's' || id || '@mail.example', 'Name', 0, 0`,
  );
}

/** Fills account 1 with reviews, as the engine would store them, but in bulk. */
export async function fillCorpus(database: Database, reviews: number): Promise<void> {
  const { db, dialect } = database;
  // Adding a million texts to the index one by one would take most of the time.
  if (dialect.name === "postgres") await sql`drop index review_words_text`.execute(db);
  const random = createRandom(1);
  await insertOthers(database, Math.ceil(reviews / 1_000));
  const names = Object.keys(reviewColumns);
  for (let from = 0; from < reviews; from += insertedAtOnce) {
    const rows = Array.from({ length: Math.min(insertedAtOnce, reviews - from) }, (_, at) =>
      createReview(from + at, reviews, random),
    );
    await db.transaction().execute(async (transaction) => {
      const batch = sql`${batchRows(
        { id: "integer", ...reviewColumns },
        rows.map((row, at) => [1 + from + at, ...row]),
        dialect,
      )}`;
      const columns = sql.join(names.map((name) => sql.ref(name)));
      const fixed = sql`(id, account_id, updated_at, votes_up, votes_down, reviewer_type, ${columns})
        select id, 1, created_at, 0, 0, 'verified_buyer', product_row, user_row + 100, ${sql.join(names.slice(2).map((name) => sql.ref(name)))}`;
      await insert(transaction, "reviews", fixed, batch);
      const reviewed = rows.map((row, at) => toSearched(1 + from + at, row));
      await indexReviews(reviewed, 1, { transaction, dialect });
    });
  }
  if (dialect.name !== "postgres") return;
  await sql`create index review_words_text on review_words using gin (words)
    with (gin_pending_list_limit = 1024)`.execute(db);
  await sql`vacuum analyze`.execute(db);
}
