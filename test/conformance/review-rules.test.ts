import { expect, it } from "vitest";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { aProduct, aReview } from "../support/builders.ts";
import { lastToken } from "../support/emails.ts";

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
