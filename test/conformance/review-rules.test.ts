import { expect, it } from "vitest";
import { describeIsolated, type Harness, type TestAccount, startMs, describeBackends } from "../support/backends.ts";
import { aProduct, aReview } from "../support/builders.ts";
import { lastToken, readEmails } from "../support/emails.ts";
import { ServiceError, siteReviewsId } from "../../src/contract/index.ts";
import type { Row } from "../../src/storage/tables.ts";
import { createRandom, type Random } from "../fuzz/random.ts";

const visit = (harness: Harness, { caller }: TestAccount) => harness.service({ appKey: caller.appKey });

describeIsolated("rules for reviews", (harness) => {
  /** Writes a review as a visitor, and returns its ID and state. */
  const write = async (account: TestAccount, fields = {}) => {
    await visit(harness(), account).reviews.create(aReview(fields));
    const { reviews } = await account.service.reviews.list({ deleted: true, details: true });
    const { id = 0, state } = reviews.at(-1) ?? {};
    return { id, state };
  };
  const countPublished = async ({ service }: TestAccount) =>
    (await service.reviews.bottomLine({ product_id: "teapot" })).bottomline.total_reviews;

  it("hold, reject, and publish: the first that applies decides, and is recorded", async () => {
    const account = await harness().newAccount();
    const { reviewRules, reviews } = account.service;
    await reviewRules.add({ action: "publish", words: ["teacup"], by: "Bo" });
    await reviewRules.add({ action: "reject", links: 2, reason: "Spam" });
    await reviewRules.add({ action: "hold", words: ["Free  Money", "casino*"], max_score: 4 });
    const written = [
      await write(account, { review_content: "a.com b.com c.com, my teacup" }),
      await write(account, { review_content: "a.com b.com" }),
      await write(account, { review_title: "Ｆree\nmoney!", review_score: 4 }),
      await write(account, { review_content: "Casinos", review_score: 1 }),
      await write(account, { review_content: "Casinos", review_score: 5 }),
      await write(account, { review_content: "carefree moneybag", review_score: 1 }),
    ];
    expect(written.map(({ state }) => state)).toEqual([
      "published",
      "unpublished",
      "held",
      "held",
      "published",
      "published",
    ]);
    expect(await countPublished(account)).toBe(3);
    const eventsOf = async (at: number) => {
      const { events } = await reviews.history({ review_id: written[at]?.id ?? 0 });
      return events.slice(1).map(({ event, by, reason }) => [event, by, reason]);
    };
    expect(await eventsOf(0)).toEqual([["published", "RULE 1", 'contains "teacup"']]);
    expect(await eventsOf(1)).toEqual([["unpublished", "RULE 2", "Spam"]]);
    expect(await eventsOf(2)).toEqual([["held", "RULE 3", 'contains "Free  Money" or "casino*", score 1 to 4']]);
    expect(await eventsOf(5)).toEqual([]);
  });

  it("leave reviews of the store and imported reviews alone", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await service.reviewRules.add({ action: "reject", min_score: 1 });
    await service.reviews.createNow(aReview());
    await service.reviews.createNow(aReview({ past: { created_at: "2026-01-01T00:00:00Z" } }));
    expect(await countPublished(account)).toBe(2);
  });

  it("apply again when the author is verified, but never against a person's decision", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const orders = [
      {
        order_id: "1",
        email: "ann@mail.example",
        customer_name: "Ann",
        order_date: "2026-03-01",
        products: { teapot: aProduct() },
      },
    ];
    await service.orders.massCreate({ platform: "general", orders } as never);
    await service.reviewRules.add({ action: "publish", verification: "verified_buyer" });
    await service.reviewRules.add({ action: "hold", verification: "anonymous" });
    await service.reviewRules.add({ action: "hold", verification: "verified", max_score: 2 });
    const verify = async () => service.links.follow({ token: await lastToken(harness(), "verify_url") });
    const stateOf = async (id: number) =>
      (await service.reviews.list({ deleted: true, details: true })).reviews.find((review) => review.id === id)?.state;
    const buyer = await write(account, { email: "ann@mail.example", review_score: 1 });
    expect(buyer.state).toBe("held");
    await verify();
    expect(await stateOf(buyer.id)).toBe("published");
    const reviewer = await write(account, { email: "bo@mail.example" });
    await verify();
    expect([reviewer.state, await stateOf(reviewer.id)]).toEqual(["held", "published"]);
    const low = await write(account, { email: "cy@mail.example", review_score: 2 });
    await verify();
    expect(await stateOf(low.id)).toBe("held");
    const decided = await write(account, { email: "ann@mail.example" });
    await service.reviews.setPublished({ review_id: decided.id, published: false, reason: "no" });
    await verify();
    expect(await stateOf(decided.id)).toBe("unpublished");
    expect(await countPublished(account)).toBe(2);
  });

  it("are listed, tested, and deleted, and keep their numbers", async () => {
    const account = await harness().newAccount();
    const { reviewRules } = account.service;
    expect(await reviewRules.list({})).toEqual({ rules: [] });
    const { rule } = await reviewRules.add({ action: "hold", words: ["casino"], verification: "verified" });
    expect(rule).toMatchObject({ id: 1, words: ["casino"], links: null, min_score: null, by: "MODERATOR" });
    const test = (fields: object) => reviewRules.test({ content: "A casino", ...fields });
    expect(await test({})).toEqual({ action: null, rule_id: null, reason: null });
    expect(await test({ verification: "verified_reviewer" })).toMatchObject({ action: "hold", rule_id: 1 });
    expect(await test({ title: "See https://a.example" })).toMatchObject({ action: "hold", rule_id: null });
    const { id } = await write(account, { review_content: "Casino" });
    expect(await reviewRules.test({ review_id: id, verification: "verified_buyer" })).toMatchObject({ rule_id: 1 });
    await reviewRules.delete({ rule_id: 1 });
    await expect(reviewRules.delete({ rule_id: 1 })).rejects.toMatchObject({ kind: "recordNotFound", record: "Rule" });
    expect((await reviewRules.add({ action: "publish", min_score: 5 })).rule).toMatchObject({
      id: 2,
      description: "score 5",
    });
    const other = (await harness().newAccount()).service;
    expect(await other.reviewRules.list({})).toEqual({ rules: [] });
    await expect(reviewRules.add({ action: "hold" })).rejects.toMatchObject({ kind: "invalidParams" });
    await expect(reviewRules.add({ action: "hold", min_score: 3, max_score: 2 })).rejects.toMatchObject({
      kind: "invalidParams",
    });
  });
});

describeIsolated("comments on reviews", (harness) => {
  /** A verified review, whose author is notified of comments. */
  const createReview = async () => {
    const account = await harness().newAccount();
    await harness().service({ appKey: account.caller.appKey }).reviews.create(aReview());
    await account.service.links.follow({ token: await lastToken(harness(), "verify_url") });
    const { reviews } = await account.service.reviews.list({});
    return { ...account, review_id: reviews[0]?.id ?? 0 };
  };
  const listNotifications = async () =>
    (await readEmails(harness())).flatMap(({ category, state, data }) =>
      category === "comment_notification" ? [[state, data["comment"]]] : [],
    );

  it("keep the previous texts in the history of the review", async () => {
    const { service, review_id } = await createReview();
    await service.reviews.comment({ review_id, content: "One" });
    harness().clock.advance(1_000);
    const edited = await service.reviews.editComment({ review_id, content: "Two", reason: "typo", by: "Bo" });
    expect(edited.comment).toMatchObject({ content: "Two", created_at: new Date(startMs).toISOString() });
    await service.reviews.editComment({ review_id, content: "Two", reason: "typo" });
    await service.reviews.comment({ review_id, content: "Three" });
    expect(await service.reviews.deleteComment({ review_id, reason: "wrong product" })).toEqual({});
    const { events } = await service.reviews.history({ review_id });
    expect(
      events.slice(2).map(({ event, by, reason, previous_content }) => [event, by, reason, previous_content]),
    ).toEqual([
      ["commented", "MODERATOR", null, undefined],
      ["comment_edited", "Bo", "typo", "One"],
      ["commented", "MODERATOR", null, "Two"],
      ["comment_deleted", "MODERATOR", "wrong product", "Three"],
    ]);
    const { reviews } = await service.reviews.list({ details: true });
    expect(reviews[0]).toMatchObject({ comment: null, comment_created_at: null });
    const { reviews: shown } = await service.reviews.widget({ product_id: "teapot" });
    expect(shown[0]?.comment).toBeUndefined();
  });

  it("notify the author of the text that stays", async () => {
    const { service, review_id } = await createReview();
    await service.reviews.comment({ review_id, content: "One" });
    await service.reviews.editComment({ review_id, content: "Two" });
    expect(await listNotifications()).toEqual([
      ["not_sent", ""],
      ["queued", "Two"],
    ]);
    await harness().database.db.updateTable("mails").set({ state: "sent", sent_at: 1 }).execute();
    await service.reviews.editComment({ review_id, content: "Three" });
    expect(await listNotifications()).toHaveLength(2);
    await service.reviews.deleteComment({ review_id });
    await service.reviews.comment({ review_id, content: "Four" });
    await service.reviews.deleteComment({ review_id });
    expect((await listNotifications()).slice(2)).toEqual([["not_sent", ""]]);
  });

  it("announce the change of the review", async () => {
    const { service, review_id } = await createReview();
    await service.webhooks.create({ url: "https://shop.example/", event_name: "review_updated" });
    await service.reviews.comment({ review_id, content: "One" });
    await service.reviews.editComment({ review_id, content: "Two" });
    await service.reviews.deleteComment({ review_id });
    const { deliveries } = await service.webhookDeliveries.list({});
    expect(deliveries).toHaveLength(3);
  });

  it("cannot be edited or deleted where there are none", async () => {
    const { service, review_id } = await createReview();
    const other = (await harness().newAccount()).service;
    for (const [caller, record] of [
      [service, "Comment"],
      [other, "Review"],
    ] as const) {
      const failure = { kind: "recordNotFound", record };
      await expect(caller.reviews.editComment({ review_id, content: "No" })).rejects.toMatchObject(failure);
      await expect(caller.reviews.deleteComment({ review_id })).rejects.toMatchObject(failure);
    }
  });
});

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
