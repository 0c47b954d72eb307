import { expect, it } from "vitest";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, aReview, bulkOrders } from "../support/builders.ts";

const visit = (harness: Harness, { caller }: TestAccount) => harness.service({ appKey: caller.appKey });

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
