import { expect, it } from "vitest";
import { reviewHolds } from "../../src/contract/index.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { aProduct, aReview, anOrder, bulkOrders } from "../support/builders.ts";
import { lastToken } from "../support/emails.ts";
import { invalidField } from "../support/service-errors.ts";

const visit = (harness: Harness, { caller }: TestAccount) => harness.service({ appKey: caller.appKey });

/** Reads the number of reviews of a product from everything that counts or shows them. */
async function countEverywhere(harness: Harness, account: TestAccount, product_id = "teapot") {
  const service = visit(harness, account);
  const { bottomline } = await service.reviews.bottomLine({ product_id });
  const widget = await service.reviews.widget({ product_id });
  const lines = (await service.reviews.bottomLines({})).bottomlines ?? [];
  const { results } = await service.batch.run({ methods: [{ method: "reviews", params: { pid: product_id } }] });
  const { page } = await service.seo.page({ product_id });
  const byUser = await service.reviews.listByUser({});
  return {
    bottomLine: bottomline.total_reviews,
    widget: widget.bottomline.total_review,
    shown: widget.reviews.length,
    lines: lines.find(({ domain_key }) => domain_key === product_id)?.total_reviews ?? 0,
    batch: results[0]?.result.includes("Pours well") === true,
    page: page.total_reviews,
    byUser: [byUser.total_reviews, byUser.reviews.length],
    top: (await service.reviews.top({})).reviews.length,
    promoted: (await service.products.promoted({})).products[0]?.total_review ?? 0,
    list: (await account.service.reviews.list({})).reviews.length,
  };
}

/** What `countEverywhere` returns for a number of reviews, up to three. */
const counts = (reviews: number) => ({
  bottomLine: reviews,
  widget: reviews,
  shown: reviews,
  lines: reviews,
  batch: reviews > 0,
  page: reviews,
  byUser: [reviews, reviews],
  top: reviews,
  promoted: reviews,
  list: reviews,
});

/** Where anyone can reach the service, floods are held. The limit itself is out of reach. */
const publicly = { publicLimits: { "submissions-per-client": { burst: 1_000_000, perHour: 1_000_000 } } };

describeIsolated(
  "publication of reviews",
  (harness) => {
    const newAccount = async () => {
      const account = await harness().newAccount();
      await account.service.account.set({ bottom_lines_delay: 0 });
      return account;
    };
    const stateOf = async ({ service }: TestAccount) =>
      (await service.reviews.list({ deleted: true, details: true })).reviews.map(({ state }) => state);

    it.each([
      [{ review_title: "Best, see https://spam.example" }, "title"],
      [{ review_title: "Visit WWW.spam" }, "title"],
      [{ review_title: "pills at ｓｐａｍ．ｃｏｍ" }, "title"],
      [{ display_name: "spam.ru" }, "name"],
      [{ display_name: "Ann sh\u200Bop.example.com" }, "name"],
      [{ review_content: "a.com b.com http://c" }, "content"],
    ])("holds the review of a visitor with links: %j", async (fields, part) => {
      const account = await newAccount();
      await visit(harness(), account).reviews.create(aReview(fields));
      expect(await stateOf(account)).toEqual(["held"]);
      expect(await countEverywhere(harness(), account)).toMatchObject({ ...counts(0), promoted: 0 });
      const { reviews } = await account.service.reviews.list({ state: "held", details: true });
      const review_id = reviews[0]?.id ?? 0;
      const { events } = await account.service.reviews.history({ review_id });
      expect(events.at(-1)).toMatchObject({ event: "held", reason: expect.stringContaining(part) as string });
      await account.service.links.follow({ token: await lastToken(harness(), "verify_url") });
      expect(await stateOf(account)).toEqual(["held"]);
      const { review } = await account.service.reviews.setPublished({ review_id, published: true, reason: "fine" });
      expect(review).toMatchObject({ deleted: false, state: "published" });
      expect(await stateOf(account)).toEqual(["published"]);
      expect((await account.service.reviews.bottomLine({ product_id: "teapot" })).bottomline.total_reviews).toBe(1);
    });

    it.each([
      { display_name: "J.R.R. Tolkien", review_title: "Great.It pours" },
      { display_name: "Dr.No", review_title: "Holds 2.5 l." },
      { review_content: "I compared it on https://www.a.com and b.com." },
    ])("publishes reviews without them: %j", async (fields) => {
      const account = await newAccount();
      await visit(harness(), account).reviews.create(aReview(fields));
      expect(await stateOf(account)).toEqual(["published"]);
    });

    it("does not hold reviews that the store creates", async () => {
      const account = await newAccount();
      const review = aReview({ review_title: "See https://shop.example" });
      await account.service.reviews.createNow(review);
      await account.service.reviews.create(review);
      expect(await stateOf(account)).toEqual(["published", "published"]);
    });

    it("holds anonymous reviews of a product beyond the daily limit", async () => {
      const account = await newAccount();
      const { maxAnonymousPerDay } = reviewHolds;
      expect((await account.service.account.settings({})).settings.anonymous_reviews_per_day).toBe(maxAnonymousPerDay);
      const service = visit(harness(), account);
      await Promise.all(Array.from({ length: maxAnonymousPerDay }, () => service.reviews.createNow(aReview())));
      await service.reviews.createNow(aReview());
      await service.reviews.createNow(aReview({ sku: "kettle" }));
      expect((await account.service.reviews.list({ state: "held", details: true })).reviews).toMatchObject([
        { sku: "teapot", deleted: true },
      ]);
      harness().clock.advance(24 * 3_600_000);
      await service.reviews.createNow(aReview());
      const { bottomline } = await service.reviews.bottomLine({ product_id: "teapot" });
      expect(bottomline.total_reviews).toBe(maxAnonymousPerDay + 1);
    });

    it("publishes only what the setting allows, for old and new reviews, and counts it everywhere", async () => {
      const account = await newAccount();
      const { service } = account;
      const write = (email: string) => visit(harness(), account).reviews.create(aReview({ email }));
      await write("ann@mail.example");
      await service.links.follow({ token: await lastToken(harness(), "verify_url") });
      await write("bo@mail.example");
      const token = await lastToken(harness(), "verify_url");
      expect(await countEverywhere(harness(), account)).toEqual(counts(2));

      await service.account.set({ published_reviews: "verified" });
      expect((await service.account.settings({})).settings.published_reviews).toBe("verified");
      await write("cy@mail.example");
      expect(await countEverywhere(harness(), account)).toEqual(counts(1));
      expect(await stateOf(account)).toEqual(["published", "pending", "pending"]);
      await service.links.follow({ token });
      expect(await countEverywhere(harness(), account)).toEqual(counts(2));

      await service.account.set({ published_reviews: "moderated" });
      expect(await countEverywhere(harness(), account)).toEqual(counts(0));
      const [first] = (await service.reviews.list({ state: "pending" })).reviews;
      await service.reviews.setPublished({ review_id: first?.id ?? 0, published: true, reason: "fine" });
      expect(await countEverywhere(harness(), account)).toEqual(counts(1));
      expect(await stateOf(account)).toEqual(["published", "pending", "pending"]);

      await service.account.set({ published_reviews: "all" });
      expect(await countEverywhere(harness(), account)).toEqual(counts(3));
      await service.reviews.setPublished({ review_id: first?.id ?? 0, published: false, reason: "no" });
      await service.account.set({ published_reviews: "verified" });
      await service.account.set({ published_reviews: "all" });
      expect(await countEverywhere(harness(), account)).toEqual(counts(2));
    });

    it("counts the reviews of grouped products and of the store", async () => {
      const account = await newAccount();
      const { service } = account;
      await service.products.massCreate({ products: { teapot: aProduct(), kettle: aProduct({ name: "Kettle" }) } });
      await service.groups.create({ group_name: "pots" });
      await service.groups.update({ group_name: "pots", product_ids_to_add: ["teapot", "kettle"] });
      for (const sku of ["teapot", "kettle", "service_site_reviews"]) {
        await visit(harness(), account).reviews.createNow(aReview({ sku }));
      }
      const totals = async () => [
        (await service.reviews.bottomLine({ product_id: "kettle" })).bottomline.total_reviews,
        (await service.reviews.siteWidget({})).bottomline.total_review,
        ((await service.reviews.bottomLines({})).bottomlines ?? []).map(({ total_reviews }) => total_reviews),
      ];
      const all = [2, 1, [2, 1, 2, 1]];
      expect(await totals()).toEqual(all);
      await service.account.set({ published_reviews: "moderated" });
      expect(await totals()).toEqual([0, 0, []]);
      await service.groups.update({ group_name: "pots", product_ids_to_remove: ["kettle"] });
      await service.groups.update({ group_name: "pots", product_ids_to_add: ["kettle"] });
      await service.account.set({ published_reviews: "all" });
      expect(await totals()).toEqual(all);
    });

    it("honors what an import states, whatever the setting", async () => {
      const account = await newAccount();
      const { service } = account;
      await service.account.set({ published_reviews: "moderated" });
      for (const published of [true, false]) {
        await service.reviews.createNow(aReview({ past: { created_at: "2020-01-01", published } }));
      }
      expect(await stateOf(account)).toEqual(["published", "unpublished"]);
      await service.account.set({ published_reviews: "verified" });
      await service.account.set({ published_reviews: "all" });
      expect(await stateOf(account)).toEqual(["published", "unpublished"]);
    });

    it("rejects another value", async () => {
      const { service } = await newAccount();
      const call = service.account.set({ published_reviews: "none" as "all" });
      await expect(call).rejects.toMatchObject(invalidField("published_reviews"));
    });
  },
  publicly,
);

describeIsolated("the moderation queue", (harness) => {
  it("lists reviews that wait, oldest first, with what a decision needs", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await service.orders.massCreate(bulkOrders([anOrder({ order_id: "1000", order_date: "2026-02-01" }), anOrder()]));
    const visitor = visit(harness(), account);
    await visitor.reviews.create(aReview({ review_title: "See https://spam.example", email: "ann@mail.example" }));
    await visitor.reviews.create(aReview());
    await service.account.set({ published_reviews: "verified" });
    await visitor.reviews.create(aReview({ sku: "service_site_reviews", email: "bo@mail.example" }));
    const { total, reviews } = await service.reviews.queue({});
    expect(total).toBe(3);
    expect(reviews.map(({ state, held_because, sku }) => [state, held_because, sku])).toEqual([
      ["held", expect.stringContaining("title"), "teapot"],
      ["pending", expect.stringContaining("verified"), "teapot"],
      ["pending", expect.stringContaining("verified"), "service_site_reviews"],
    ]);
    expect(reviews[0]).toMatchObject({
      email: "ann@mail.example",
      reviewer_type: "anonymous",
      product_title: expect.any(String),
      order_id: "1001",
      images: [],
      comment: null,
    });
    expect(reviews.map(({ order_id }) => order_id)).toEqual(["1001", "1001", null]);
    expect(await service.reviews.queue({ state: "held" })).toMatchObject({
      total: 1,
      reviews: [{ id: reviews[0]?.id }],
    });
    const rest = await service.reviews.queue({ since_id: (reviews[0]?.id ?? 0) + 1, count: 1 });
    expect([rest.total, rest.reviews.map(({ id }) => id)]).toEqual([3, [reviews[1]?.id]]);
    expect(await (await harness().newAccount()).service.reviews.queue({})).toEqual({ total: 0, reviews: [] });
  });

  it("loses reviews that are decided on, and gets them back", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await visit(harness(), account).reviews.create(aReview({ review_title: "See https://spam.example" }));
    await visit(harness(), account).reviews.create(aReview());
    const count = async () => [
      (await service.reviews.queue({})).total,
      (await service.reviews.bottomLine({ product_id: "teapot" })).bottomline.total_reviews,
    ];
    expect(await count()).toEqual([1, 1]);
    const { reviews } = await service.reviews.list({ deleted: true });
    const [held, shown] = reviews.map(({ id }) => id);
    await service.reviews.setPublished({ review_id: held ?? 0, published: true, reason: "fine" });
    expect(await count()).toEqual([0, 2]);
    for (const review_id of [held ?? 0, shown ?? 0]) {
      const { review } = await service.reviews.requeue({ review_id, reason: "oops", by: "Bo" });
      expect(review.state).toBe("held");
      await service.reviews.requeue({ review_id });
    }
    expect(await count()).toEqual([2, 0]);
    expect((await service.reviews.queue({})).reviews.map(({ held_because }) => held_because)).toEqual(["oops", "oops"]);
    const { events } = await service.reviews.history({ review_id: shown ?? 0 });
    expect(events.at(-1)).toMatchObject({ event: "requeued", by: "Bo", reason: "oops" });
    await service.account.set({ published_reviews: "moderated" });
    await service.reviews.setPublished({ review_id: shown ?? 0, published: false, reason: "no" });
    expect(await count()).toEqual([1, 0]);
    const other = (await harness().newAccount()).service;
    await expect(other.reviews.requeue({ review_id: shown ?? 0 })).rejects.toMatchObject({ kind: "recordNotFound" });
  });
});
