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
      {
        created_at: "2018-08-15T00:00:00.000Z",
        published: true,
        comment: null,
        reviewer_type: "anonymous",
      },
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
      {
        created_at: "2026-03-15T12:00:00.000Z",
        published: true,
        comment: null,
        reviewer_type: "anonymous",
      },
    ]);
  });

  it("is rejected with an invalid utoken or that of another account", async () => {
    const { caller, service } = await harness().newAccount();
    const other = await harness().newAccount();
    for (const utoken of ["nonsense", other.caller.utoken]) {
      const stranger = harness().service({ appKey: caller.appKey, utoken });
      await expect(stranger.reviews.createNow(aReview({ past }))).rejects.toMatchObject({
        kind: "unauthorized",
      });
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
