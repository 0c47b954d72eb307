import { expect, it } from "vitest";
import { describeBackends, type Harness } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";

const past = {
  created_at: "2018-08-15T10:11:12.345Z",
  published: false,
  comment: "Thanks",
  reviewer_type: "verified_buyer",
} as const;

async function outbox({ database }: Harness) {
  const emails = await database.db.selectFrom("mails").select("id").execute();
  const deliveries = await database.db.selectFrom("webhook_deliveries").select("id").execute();
  return { mails: emails.length, deliveries: deliveries.length };
}

describeBackends("reviews.createNow for a past review", (harness) => {
  it("uses the reviewer type that the store states, and sends no emails or webhooks", async () => {
    const { service } = await harness().newAccount();
    await service.webhooks.create({ url: "https://shop.example/hook", event_name: "review_create" });
    const { reviews } = await service.reviews.createNow(aReview({ past }));
    expect(reviews[0]).toMatchObject({
      created_at: past.created_at,
      deleted: true,
      verified_buyer: true,
      user_type: "User",
    });
    const listed = await service.reviews.list({ deleted: true, details: true });
    expect(listed.reviews).toMatchObject([
      {
        created_at: past.created_at,
        published: false,
        comment: "Thanks",
        reviewer_type: "verified_buyer",
        email: "ann@mail.example",
      },
    ]);
    expect(await service.reviews.bottomLine({ product_id: "teapot" })).toEqual({
      bottomline: { average_score: 0, total_reviews: 0 },
    });
    const { events } = await service.reviews.history({ review_id: reviews[0]?.id ?? 0 });
    expect(events).toMatchObject([{ event: "imported", by: "MODERATOR" }]);
    expect(await outbox(harness())).toEqual({ mails: 0, deliveries: 0 });
  });

  it("is imported by the job that the caller names, also together with those of others", async () => {
    const { caller } = await harness().newAccount();
    const jobs = ["import 1", "import 2", undefined];
    const ids = await Promise.all(
      jobs.map(async (by) => {
        const { reviews } = await harness()
          .service({ ...caller, by })
          .reviews.createNow(aReview({ past }));
        return reviews[0]?.id ?? 0;
      }),
    );
    const service = harness().service(caller);
    const histories = await Promise.all(ids.map((review_id) => service.reviews.history({ review_id })));
    expect(histories.map(({ events }) => events[0]?.by)).toEqual(["import 1", "import 2", "MODERATOR"]);
  });

  it("has the images and the date of the comment that the store states", async () => {
    const { service } = await harness().newAccount();
    const images = ["https://img.example/a.jpg", "http://img.example/b.png?w=1,2"];
    const more = { images, comment_created_at: "2018-09-01T08:00:00Z" };
    await service.reviews.createNow(aReview({ past: { ...past, ...more, published: true } }));
    await service.reviews.createNow(aReview({ past: { ...past, images: [] } }));
    const { reviews } = await service.reviews.list({ deleted: true, details: true });
    expect(reviews).toMatchObject([
      { images, comment_created_at: "2018-09-01T08:00:00.000Z" },
      { images: [], comment_created_at: past.created_at },
    ]);
    const page = await service.reviews.widget({ product_id: "teapot" });
    expect(page.reviews[0]?.comment?.created_at).toBe("2018-09-01T08:00:00.000Z");
    const shown = page.reviews[0]?.images_data ?? [];
    expect(shown).toMatchObject(images.map((url) => ({ thumb_url: url, original_url: url })));
    const [image] = shown;
    await expect(service.images.get({ image_id: image?.id ?? 0 })).rejects.toMatchObject({ kind: "recordNotFound" });
  });

  it.each([{ images: ["javascript:alert(1)"] }, { images: Array<string>(21).fill("https://img.example/a.jpg") }])(
    "rejects images that are not URLs, or too many of them",
    async (more) => {
      const { service } = await harness().newAccount();
      const created = service.reviews.createNow(aReview({ past: { ...past, ...more } }));
      await expect(created).rejects.toMatchObject({ kind: "invalidParams" });
    },
  );

  it("is published, anonymous, and without a comment by default", async () => {
    const { service } = await harness().newAccount();
    await service.reviews.createNow(aReview({ past: { created_at: "2018-08-15" } }));
    expect((await service.reviews.list({ details: true })).reviews).toMatchObject([
      { created_at: "2018-08-15T00:00:00.000Z", published: true, comment: null, reviewer_type: "anonymous" },
    ]);
    expect(await service.reviews.bottomLine({ product_id: "teapot" })).toMatchObject({
      bottomline: { total_reviews: 1 },
    });
    const { reviews } = await service.reviews.widget({ product_id: "teapot" });
    expect(reviews[0]?.created_at).toBe("2018-08-15T00:00:00.000Z");
  });

  it("is counted once it is published, and not before", async () => {
    const { service } = await harness().newAccount();
    const { reviews } = await service.reviews.createNow(aReview({ past }));
    const review_id = reviews[0]?.id ?? 0;
    await service.reviews.setPublished({ review_id, published: true, reason: "fine" });
    expect(await service.reviews.bottomLine({ product_id: "teapot" })).toMatchObject({
      bottomline: { total_reviews: 1 },
    });
  });

  it("is treated as a new review without the store's utoken", async () => {
    const { caller, service } = await harness().newAccount();
    const anonymous = harness().service({ appKey: caller.appKey });
    await anonymous.reviews.createNow(aReview({ past }));
    expect((await service.reviews.list({ details: true })).reviews).toMatchObject([
      { created_at: "2026-03-15T12:00:00.000Z", published: true, comment: null, reviewer_type: "anonymous" },
    ]);
  });

  it("is rejected with an invalid utoken or that of another account", async () => {
    const { caller, service } = await harness().newAccount();
    const other = await harness().newAccount();
    for (const utoken of ["nonsense", other.caller.utoken]) {
      const stranger = harness().service({ appKey: caller.appKey, utoken });
      await expect(stranger.reviews.createNow(aReview({ past }))).rejects.toMatchObject({ kind: "unauthorized" });
      await stranger.reviews.createNow(aReview());
    }
    expect((await service.reviews.list({})).reviews).toHaveLength(2);
  });

  it.each(["yesterday", "2018-02-30", "2018-08-15T10", "2018-08-15T25:00:00Z"])(
    "rejects %s as a timestamp",
    async (created_at) => {
      const { service } = await harness().newAccount();
      await expect(service.reviews.createNow(aReview({ past: { created_at } }))).rejects.toMatchObject({
        kind: "invalidParams",
      });
    },
  );
});

describeBackends("concurrent calls of reviews.createNow for past reviews", (harness) => {
  const person = (name: string) => ({ display_name: `${name} Jones`, email: `${name}@mail.example` });
  const reviews = [
    { ...person("Ann"), sku: "teapot", product_title: "Teapot", past },
    { ...person("Ann"), sku: "cup", review_score: 1, past: { ...past, published: true } },
    { ...person("ANN"), sku: "cup", review_score: 2, past: { ...past, comment: undefined, published: true } },
    { ...person("Bob"), sku: "teapot", past: {} },
    { ...person("Bob"), sku: "teapot", past: {} },
    { ...person("Eve"), sku: "service_site_reviews", past: {} },
    { ...person("Eve"), sku: "saucer", product_image_url: "https://shop.example/s.jpg", past },
    { ...person("Eve"), sku: "cup", review_score: 5, user_reference: "e7", domain: "shop.example", past },
    { ...person("Cid"), sku: "lid", review_score: 3, past: { published: true } },
  ].map((review, at) => {
    // Concurrent calls may arrive in another order.
    return aReview({ ...review, past: { ...review.past, created_at: `2018-08-15T10:11:${10 + at}.000Z` } });
  });

  /** What an account holds after the calls, without IDs and random parts of slugs. */
  async function importAll(isConcurrent: boolean) {
    const { service } = await harness().newAccount();
    await service.products.massCreate({ products: { cup: { name: "Cup", url: "https://shop.example/cup" } } });
    await service.groups.create({ group_name: "china" });
    await service.groups.update({ group_name: "china", product_ids_to_add: ["cup"] });
    const call = (input: (typeof reviews)[number], at: number) =>
      service.reviews.createNow(input, { idempotencyKey: `review ${at}` });
    const results: Awaited<ReturnType<typeof call>>[] = [];
    if (isConcurrent) results.push(...(await Promise.all(reviews.map(call))));
    else for (const [at, review] of reviews.entries()) results.push(await call(review, at));
    const listed = await service.reviews.list({ deleted: true, details: true, count: 100 });
    const history = await Promise.all(
      results.map(({ reviews: [review] }) => service.reviews.history({ review_id: review?.id ?? 0 })),
    );
    const lines = await Promise.all(
      ["teapot", "cup", "saucer", "lid", "service_site_reviews"].map((product_id) =>
        service.reviews.bottomLine({ product_id }),
      ),
    );
    return {
      service,
      results,
      stored: {
        authors: results.map(({ reviews: [review] }) =>
          results.findIndex((other) => other.reviews[0]?.user.id === review?.user.id),
        ),
        names: results.map(({ reviews: [review] }) => review?.user.display_name),
        products: results.map(({ reviews: [review] }) => review?.products_apps[0]?.product.name),
        listed: listed.reviews
          .map(({ id: _id, ...review }) => review)
          .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1)),
        history: history.map(({ events }) => events.map(({ event, by, reason }) => ({ event, by, reason }))),
        lines,
      },
    };
  }

  it("stores what consecutive calls store", async () => {
    const together = await importAll(true);
    expect(together.stored).toEqual((await importAll(false)).stored);
    expect(together.stored.authors).toEqual([0, 0, 0, 3, 4, 5, 6, 6, 8]);
    const slugs = together.results.map(({ reviews: [review] }) => review?.user.slug);
    expect(slugs.every((slug) => /^\w+-j/.test(slug ?? ""))).toBe(true);
  });

  it("repeats the results of calls with the same key, and refuses another input", async () => {
    const { service, results } = await importAll(true);
    const events: boolean[] = [];
    const repeat = (at: number, change = {}) =>
      service.reviews.createNow({ ...reviews[at], ...change } as (typeof reviews)[number], {
        idempotencyKey: `review ${at}`,
        onEvent: (event) => {
          if (event.type === "idempotency") events.push(event.isReplay);
        },
      });
    const [again, ...others] = await Promise.allSettled([
      Promise.all(results.map((_, at) => repeat(at))),
      repeat(2, { review_title: "Another title" }),
      service.reviews.createNow(aReview({ past }), { idempotencyKey: "new" }),
      service.reviews.createNow(aReview({ past }), { idempotencyKey: "new" }),
    ]);
    expect(again).toEqual({ status: "fulfilled", value: results });
    expect(events).toEqual(results.map(() => true));
    expect(others).toMatchObject([
      { status: "rejected", reason: { kind: "invalidIdempotencyKey" } },
      { status: "fulfilled" },
      { status: "fulfilled" },
    ]);
    const { reviews: all } = await service.reviews.list({ deleted: true, count: 100 });
    expect(all).toHaveLength(reviews.length + 1);
  });
});
