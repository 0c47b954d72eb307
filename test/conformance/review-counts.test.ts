import { expect, it } from "vitest";
import { ServiceError, siteReviewsId } from "../../src/contract/index.ts";
import type { Row } from "../../src/storage/tables.ts";
import { createRandom, type Random } from "../fuzz/random.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";

const hourMs = 60 * 60 * 1_000;
const skus = ["a", "b", "c", "d"];
const names = ["G", "H"];

/** Runs a random operation that changes counts or is rejected. */
async function runRandomOperation(random: Random, { clock }: Harness, { service }: TestAccount, ids: number[]) {
  const { groups, reviews } = service;
  const pickSkus = () => skus.filter(() => random.chance(0.4));
  const group_name = random.pick(names);
  switch (random.below(8)) {
    case 0:
      return groups.create({ group_name });
    case 1:
      return groups.delete({ group_name });
    case 2:
    case 3:
      return groups.update({ group_name, product_ids_to_add: pickSkus(), product_ids_to_remove: pickSkus() });
    case 4:
      clock.advance(random.below(hourMs));
      return reviews.bottomLines({});
    case 5:
      return reviews.setPublished({
        review_id: ids.length === 0 ? 1 : random.pick(ids),
        published: random.chance(0.5),
        reason: "why not",
      });
    default: {
      const review = { sku: random.pick([...skus, siteReviewsId]), review_score: 1 + random.below(5) };
      const created = await reviews.createNow(aReview(review));
      return ids.push(...created.reviews.map(({ id }) => id));
    }
  }
}

type Stars = readonly number[];

/** Computes the expected totals of each rating target from the reviews and groups. */
function recount(reviews: readonly Row<"reviews">[], members: readonly Row<"group_products">[]) {
  const totals = new Map<string, Stars>();
  for (const { account_id, product_row, published, score } of reviews) {
    if (published === 0) continue;
    const group = members.find((member) => member.product_row === product_row)?.group_row;
    const on = product_row === null ? [`s${account_id}`] : [`p${product_row}`, ...(group ? [`g${group}`] : [])];
    for (const target of [`a${account_id}`, ...on]) {
      const counts = totals.get(target) ?? [0, 0, 0, 0, 0];
      totals.set(
        target,
        counts.map((count, at) => count + (at + 1 === score ? 1 : 0)),
      );
    }
  }
  return totals;
}

describeBackends("review counts", (harness) => {
  it.each([1, 2])("match the reviews after any sequence of operations: seed %d", async (seed) => {
    const account = await harness().newAccount();
    const { database, clock } = harness();
    await account.service.products.massCreate({
      products: Object.fromEntries(skus.map((sku) => [sku, { name: sku, url: "https://shop.example" }])),
    });
    const random = createRandom(seed);
    const ids: number[] = [];
    for (let step = 0; step < 120; step += 1) {
      await runRandomOperation(random, harness(), account, ids).catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.kind === "internal") throw error;
      });
    }
    clock.advance(hourMs);
    const { bottomlines = [] } = await account.service.reviews.bottomLines({ count: 100 });
    const reviews = await database.db.selectFrom("reviews").selectAll().execute();
    const members = await database.db.selectFrom("group_products").selectAll().execute();
    const totals = await database.db.selectFrom("review_totals").selectAll().execute();
    const expected = recount(reviews, members);
    expect(expected.size).toBeGreaterThan(4);
    expect(totals.map(({ rating_target: target }) => target)).toEqual(expect.arrayContaining([...expected.keys()]));
    for (const { rating_target: target, ...row } of totals) {
      const stars = expected.get(target) ?? [0, 0, 0, 0, 0];
      expect([target, row.stars_1, row.stars_2, row.stars_3, row.stars_4, row.stars_5]).toEqual([target, ...stars]);
    }
    const products = await database.db
      .selectFrom("products")
      .select(["id", "product_id"])
      .where("account_id", "=", await harness().newestAccountId())
      .orderBy("id")
      .execute();
    const lineOf = (domain_key: string, [s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0]: readonly number[]) => {
      const total_reviews = s1 + s2 + s3 + s4 + s5;
      const average = total_reviews === 0 ? 0 : (s1 + 2 * s2 + 3 * s3 + 4 * s4 + 5 * s5) / total_reviews;
      return { domain_key, product_score: Math.round(average * 100) / 100, total_reviews };
    };
    const lines = products.flatMap(({ id, product_id }) => {
      const group = members.find(({ product_row }) => product_row === id)?.group_row;
      const [own = [], grouped] = [expected.get(`p${id}`), expected.get(`g${group}`)];
      const ownLine = lineOf(product_id, own);
      if (grouped?.some((count) => count > 0)) return [lineOf(product_id, grouped), ownLine];
      return ownLine.total_reviews > 0 ? [ownLine] : [];
    });
    expect(bottomlines).toEqual(lines);
  });
});
