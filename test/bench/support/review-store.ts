import { randomBytes } from "node:crypto";
import { createLocalTransport } from "../../../src/engine/local-transport.ts";
import { ensureFirstAccount } from "../../../src/engine/accounts/first-account.ts";
import { productTarget } from "../../../src/engine/reviews/rating-targets.ts";
import { createSealer } from "../../../src/engine/kernel/sealer.ts";
import { openDatabase } from "../../../src/storage/database.ts";

/** A database with reviews, and what is needed to serve it. */
export interface ReviewStore {
  readonly appKey: string;
  readonly secret: string;
  /** In hexadecimal, for STARPOST_KEY. */
  readonly sealingKey: string;
  readonly products: number;
}

const startMs = Date.UTC(2024, 0, 1);
const insertedAtOnce = 200;
const sentence = "It does what it says, came in time and was well packed; I would buy it again. ";

/**
 * Fills a database with reviews: half of them for the product to page through, the rest for 1,000 others.
 * The rows are the same as those that the engine writes, but are inserted in bulk.
 */
export async function fillReviewStore(url: string, reviews: number): Promise<ReviewStore> {
  const key = randomBytes(32);
  const sealer = createSealer(key);
  const clock = () => startMs;
  const database = await openDatabase(url, { nowMs: startMs });
  const keys = await ensureFirstAccount(database, { sealer, clock, random: randomBytes });
  const transport = createLocalTransport({ database, clock, random: randomBytes, sealer, enforceLimits: false });
  const { db } = database;
  const products = 1_000;
  const productRows = await db
    .insertInto("products")
    .values(
      Array.from({ length: products + 1 }, (_, at) => ({
        account_id: 1,
        product_id: `p${at}`,
        name: `Product ${at}`,
        url: `https://shop.example/p${at}`,
        created_at: startMs,
        updated_at: startMs,
      })),
    )
    .returning("id")
    .execute();
  const people = await db
    .insertInto("users")
    .values(
      Array.from({ length: 1_000 }, (_, at) => ({
        account_id: 1,
        email: `shopper${at}@mail.example`,
        email_key: `shopper${at}@mail.example`,
        display_name: `Shopper Number${at}`,
        kind: "shopper",
        password_hash: "",
        url: "",
        slug: `shopper-${at}`,
        created_at: startMs,
      })),
    )
    .returning("id")
    .execute();
  const totals = productRows.map(() => [0, 0, 0, 0, 0]);
  for (let from = 0; from < reviews; from += insertedAtOnce) {
    const rows = Array.from({ length: Math.min(insertedAtOnce, reviews - from) }, (_, step) => {
      const at = from + step;
      const product = at % 2 === 0 ? 0 : 1 + (((at - 1) / 2) % products);
      const score = 1 + ((at * 7) % 5);
      const counted = totals[product];
      if (counted) counted[score - 1] = (counted[score - 1] ?? 0) + 1;
      const productRow = productRows[product]?.id ?? 0;
      return {
        account_id: 1,
        product_row: productRow,
        user_row: people[at % people.length]?.id ?? 0,
        rating_target: productTarget(productRow),
        title: `Review ${at}`,
        content: sentence.repeat(1 + (at % 6)),
        score,
        reviewer_type: "verified_buyer",
        user_reference: null,
        domain: null,
        published: 1,
        votes_up: at % 13,
        votes_down: at % 3,
        comment: null,
        comment_at: null,
        images: 0,
        created_at: startMs + at * 60_000,
        updated_at: startMs + at * 60_000,
      };
    });
    await db.insertInto("reviews").values(rows).execute();
  }
  for (const [at, stars] of totals.entries()) {
    const productRow = productRows[at]?.id ?? 0;
    await db
      .insertInto("review_totals")
      .values({
        account_id: 1,
        rating_target: productTarget(productRow),
        product_row: productRow,
        stars_1: stars[0] ?? 0,
        stars_2: stars[1] ?? 0,
        stars_3: stars[2] ?? 0,
        stars_4: stars[3] ?? 0,
        stars_5: stars[4] ?? 0,
        updated_at: startMs,
      })
      .execute();
  }
  await transport.close();
  return { ...keys, sealingKey: key.toString("hex"), products };
}
