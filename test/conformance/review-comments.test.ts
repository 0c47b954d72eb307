import { expect, it } from "vitest";
import { describeIsolated, startMs } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { lastToken, readEmails } from "../support/emails.ts";

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
