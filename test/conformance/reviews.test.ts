import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { siteReviewsId } from "../../src/contract/index.ts";
import type { InputOf } from "../../src/service/transport.ts";
import { describeBackends, type Harness, startMs, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { lastToken } from "../support/emails.ts";
import { mentioning } from "../support/service-errors.ts";

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;

const noBottomLines = { bottomlines: [], page: "1", per_page: "10" };

/** Creates reviews one minute apart, and returns their IDs. */
async function storeReviews(
  { clock }: Harness,
  { service }: TestAccount,
  reviews: readonly Partial<InputOf<"reviews.createNow">>[],
): Promise<number[]> {
  const ids: number[] = [];
  for (const fields of reviews) {
    const created = await service.reviews.createNow(aReview(fields));
    ids.push(created.reviews[0]?.id ?? 0);
    clock.advance(60_000);
  }
  return ids;
}

describeBackends("reviews", (harness) => {
  const newAccount = () => harness().newAccount();
  const store = (account: TestAccount, ...reviews: Partial<InputOf<"reviews.createNow">>[]) =>
    storeReviews(harness(), account, reviews);

  describe("create", () => {
    it("publishes the review as anonymous, and queues a verification email", async () => {
      const { service } = await newAccount();
      const created = await service.reviews.create(aReview({ display_name: "Ann Smith" }));
      expect(created.image_upload_token).toMatch(/^v1\./);
      const { reviews } = await service.reviews.widget({ product_id: "teapot" });
      expect(reviews).toMatchObject([
        { title: "Pours well", verified_buyer: false, user: { display_name: "Ann S.", user_type: "Anonymous" } },
      ]);
      const emails = await harness()
        .database.db.selectFrom("mails")
        .where("account_id", "=", await harness().newestAccountId())
        .where("category", "!=", "comment_request")
        .selectAll()
        .execute();
      expect(emails).toMatchObject([
        { category: "anonymous_testimonials_request", email: "ann@mail.example", state: "queued" },
      ]);
      expect(JSON.parse(emails[0]?.data ?? "")).toMatchObject({
        verify_url: expect.stringMatching(/^http:\/\/.*\/starpost\/v1\/l\/v1\./) as unknown,
        unsubscribe_url: expect.stringMatching(/^http:\/\/.*\/starpost\/v1\/l\/v1\./) as unknown,
      });
    });

    it.each([
      [{ review_content: " " }, "Missing review_content"],
      [{ user_reference: "a\u0000b" }, mentioning("user_reference", "U+0000")],
      [{ user_reference: { id: 1 } }, mentioning("user_reference", "string")],
      [{ user_reference: "u".repeat(256) }, mentioning("user_reference", 255)],
    ])("rejects %j", async (fields, message) => {
      const { service } = await newAccount();
      const call = service.reviews.create(aReview(fields as never));
      await expect(call).rejects.toMatchObject({ kind: "invalidParams", message });
      expect((await service.reviews.list({})).reviews).toEqual([]);
    });

    it("does not attribute a review to an existing user until the address is verified", async () => {
      const account = await newAccount();
      const { service } = account;
      const write = async (display_name: string) => {
        await service.reviews.create(aReview({ display_name }));
        harness().clock.advance(60_000);
        return lastToken(harness(), "verify_url");
      };
      await service.links.follow({ token: await write("Ann Smith") });
      const token = await write("Mallory Moss");
      const names = async () =>
        (await service.reviews.widget({ product_id: "teapot" })).reviews.map(({ user }) => user.display_name);
      expect(await names()).toEqual(["Mallory M.", "Ann S."]);
      const { reviews } = await service.reviews.widget({ product_id: "teapot" });
      const [stranger, ann] = reviews.map(({ user }) => user.user_id);
      expect(stranger).not.toBe(ann);
      const profile = await service.users.get({ user_id: stranger ?? 0 });
      expect(profile.user.display_name).toBe("Mallory M.");
      await service.links.follow({ token });
      expect(await names()).toEqual(["Ann S.", "Ann S."]);
      await expect(service.users.get({ user_id: stranger ?? 0 })).rejects.toMatchObject({ kind: "recordNotFound" });
    });

    it("creates an event for each subscription", async () => {
      const { service, caller } = await newAccount();
      await service.webhooks.create({ url: "https://shop.example/hook", event_name: "review_create" });
      await service.reviews.create(aReview({}));
      const [delivery] = await harness()
        .database.db.selectFrom("webhook_deliveries")
        .where("account_id", "=", await harness().newestAccountId())
        .selectAll()
        .execute();
      expect(JSON.parse(delivery?.body ?? "")).toMatchObject({
        event: "review_create",
        data: { title: "Pours well", score: 5, app_key: caller.appKey, customer_email: "ann@mail.example" },
      });
    });
  });

  describe("create, signed by a trusted vendor", () => {
    const signed = (account: TestAccount, fields: Record<string, string | number> = {}, secret = account.secret) => {
      const review: Record<string, unknown> = {
        ...aReview(),
        time_stamp: String(startMs / 1_000),
        reviewer_type: "verified_buyer",
        ...fields,
      };
      const sorted = Object.entries({ ...review, appkey: account.caller.appKey }).toSorted(([a], [b]) =>
        a < b ? -1 : 1,
      );
      const message = JSON.stringify(Object.fromEntries(sorted));
      const signature = createHmac("sha256", secret).update(message).digest("hex");
      return { ...review, signature } as unknown as InputOf<"reviews.create">;
    };

    it.each([
      ["another secret", { secret: "x" }, "unauthorized"],
      ["a time too far in the past", { time_stamp: String(startMs / 1_000 - 901) }, "unauthorized"],
      ["a time too far in the future", { time_stamp: String(startMs / 1_000 + 901) }, "unauthorized"],
      ["an unknown type", { reviewer_type: "friend" }, "invalidParams"],
      ["an empty type", { reviewer_type: "" }, "invalidParams"],
      ["an empty time", { time_stamp: "" }, "invalidParams"],
      ["a malformed time", { time_stamp: "noon" }, "invalidParams"],
    ])("is rejected with %s", async (_what, { secret: other, ...fields }: Record<string, string>, kind) => {
      const account = await newAccount();
      const { service } = account;
      await service.account.setFeature({ feature: "trusted_vendor", enabled: true });
      await expect(service.reviews.create(signed(account, fields, other))).rejects.toMatchObject({ kind });
      const changed = { ...signed(account), review_score: 1 };
      await expect(service.reviews.create(changed)).rejects.toMatchObject({ kind: "unauthorized" });
      expect((await service.reviews.list({})).reviews).toEqual([]);
    });

    it("is rejected if text of one field was moved into another", async () => {
      const account = await newAccount();
      const { service } = account;
      await service.account.setFeature({ feature: "trusted_vendor", enabled: true });
      const { domain, ...review } = signed(account, { display_name: "Ann", domain: "shop.example" });
      // Earlier versions signed `name=value` joined with `&`, so both reviews had the same signature.
      const forged = { ...review, display_name: `Ann&domain=${domain}` };
      await expect(service.reviews.create(forged)).rejects.toMatchObject({ kind: "unauthorized" });
      expect((await service.reviews.list({})).reviews).toEqual([]);
    });

    // The second is a field of every object.
    it.each(["note", "constructor"])(
      "is rejected with the unknown field %s, whether or not it is signed",
      async (name) => {
        const account = await newAccount();
        const { service } = account;
        await service.account.setFeature({ feature: "trusted_vendor", enabled: true });
        const refusal = { kind: "invalidParams", message: mentioning(name) };
        const extra = { ...signed(account), [name]: "x" };
        await expect(service.reviews.create(extra)).rejects.toMatchObject(refusal);
        await expect(service.reviews.create(signed(account, { [name]: "x" }))).rejects.toMatchObject(refusal);
      },
    );

    it("is accepted once; a repeat returns the first result, and another operation rejects it", async () => {
      const account = await newAccount();
      const { service } = account;
      await service.account.setFeature({ feature: "trusted_vendor", enabled: true });
      const review = signed(account);
      const anonymous = harness().service({ appKey: account.caller.appKey });
      const first = await anonymous.reviews.create(review);
      harness().clock.advance(60_000);
      const upper = { ...review, signature: String(review.signature).toUpperCase() };
      expect(await Promise.all([review, upper].map((body) => anonymous.reviews.create(body)))).toEqual([first, first]);
      await expect(anonymous.reviews.createNow(review)).rejects.toMatchObject({ kind: "unauthorized" });
      expect((await service.reviews.list({})).reviews).toHaveLength(1);
      const now = signed(account, { email: "bo@mail.example" });
      const { reviews } = await anonymous.reviews.createNow(now);
      expect((await anonymous.reviews.createNow(now)).reviews).toEqual(reviews);
      expect((await service.reviews.list({})).reviews).toHaveLength(2);
      harness().clock.advance(15 * 60_000);
      await expect(anonymous.reviews.create(review)).rejects.toMatchObject({ kind: "unauthorized" });
    });
  });

  describe("widget", () => {
    it("counts stars, and pages through all reviews, the latest first", async () => {
      const account = await newAccount();
      const ids = await store(account, ...[5, 4, 4, 1, 2, 3, 5].map((review_score) => ({ review_score })));
      const first = await account.service.reviews.widget({ product_id: "teapot", per_page: 3 });
      expect(first.pagination).toEqual({ page: 1, per_page: 3, total: 7 });
      expect(first.bottomline).toEqual({
        total_review: 7,
        average_score: 3.43,
        star_distribution: { 1: 1, 2: 1, 3: 1, 4: 2, 5: 2 },
        custom_fields_bottomline: null,
      });
      const seen: number[] = [];
      for (const page of [1, 2, 3, 4]) {
        const { reviews } = await account.service.reviews.widget({ product_id: "teapot", per_page: 3, page });
        seen.push(...reviews.map(({ id }) => id));
      }
      expect(seen).toEqual(ids.toReversed());
    });

    it("sorts by each field in both directions, on the first and last page", async () => {
      const account = await newAccount();
      const { reviews } = account.service;
      const ids = await store(account, ...[2, 5, 1, 5, 3].map((review_score) => ({ review_score })));
      for (const [at, votes] of [3, 0, 1, 0, 2].entries()) {
        for (let vote = 0; vote < votes; vote += 1) {
          await reviews.vote({ review_id: ids[at] ?? 0, vote_type: "up" });
        }
      }
      const order = async (query: Omit<InputOf<"reviews.widget">, "product_id">) => {
        const pages = [1, 2, 3, 4, 5].map((page) =>
          reviews.widget({ product_id: "teapot", per_page: 1, page, ...query }),
        );
        return (await Promise.all(pages)).flatMap((found) => found.reviews.map(({ id }) => ids.indexOf(id)));
      };
      expect(await order({ sort: "date", direction: "asc" })).toEqual([0, 1, 2, 3, 4]);
      expect(await order({ sort: "time" })).toEqual([4, 3, 2, 1, 0]);
      expect(await order({ sort: "rating" })).toEqual([3, 1, 4, 0, 2]);
      expect(await order({ sort: ["rating", "votes_up"], direction: "ASC" })).toEqual([2, 0, 4, 1, 3]);
      expect(await order({ sort: ["votes_up"] })).toEqual([0, 4, 2, 3, 1]);
      expect(await order({ sort: ["votes_down", "reviewer_type"] })).toEqual([4, 3, 2, 1, 0]);
    });

    it("returns an empty list for an unknown product, and clamps the page", async () => {
      const { service } = await newAccount();
      const found = await service.reviews.widget({ product_id: "nothing", per_page: 10_000, page: 0 });
      expect(found).toMatchObject({
        pagination: { page: 1, per_page: 150, total: 0 },
        bottomline: { total_review: 0, average_score: 0 },
        products: [],
        reviews: [],
      });
    });

    it("keeps the store's own reviews separate", async () => {
      const account = await newAccount();
      await store(account, { sku: siteReviewsId, review_score: 3 }, { review_score: 5 });
      const site = await account.service.reviews.siteWidget({});
      expect(site.reviews).toHaveLength(1);
      expect(site.reviews[0]).not.toHaveProperty("product_id");
      expect(site.bottomline).toMatchObject({ total_review: 1, average_score: 3 });
      expect((await account.service.reviews.widget({ product_id: "teapot" })).reviews).toHaveLength(1);
      const line = await account.service.reviews.bottomLine({ product_id: siteReviewsId });
      expect(line.bottomline).toEqual({ average_score: 3, total_reviews: 1 });
    });
  });

  describe("bottomLines", () => {
    it("change after exactly one hour", async () => {
      const { service } = await newAccount();
      expect(await service.reviews.bottomLines({})).toEqual(noBottomLines);
      await service.reviews.createNow(aReview({ review_score: 5 }));
      harness().clock.advance(hourMs / 2);
      await service.reviews.createNow(aReview({ review_score: 2 }));
      expect(await service.reviews.bottomLines({})).toEqual(noBottomLines);
      harness().clock.advance(hourMs / 2);
      expect(await service.reviews.bottomLines({})).toEqual({
        bottomlines: [{ domain_key: "teapot", product_score: 5, total_reviews: 1 }],
        page: "1",
        per_page: "10",
      });
      harness().clock.advance(hourMs / 2);
      expect((await service.reviews.bottomLines({})).bottomlines).toEqual([
        { domain_key: "teapot", product_score: 3.5, total_reviews: 2 },
      ]);
      const now = await service.reviews.bottomLine({ product_id: "teapot" });
      expect(now).toEqual({ bottomline: { average_score: 3.5, total_reviews: 2 } });
    });

    it("list a grouped product twice, first with its group, even without reviews", async () => {
      const account = await newAccount();
      const { groups, products, reviews } = account.service;
      await store(account, { sku: "a", review_score: 5 }, { sku: "b", review_score: 2 });
      await products.massCreate({ products: { c: { name: "C", url: "https://shop.example/c" } } });
      await groups.create({ group_name: "pots" });
      await groups.update({ group_name: "pots", product_ids_to_add: ["a", "b", "c"] });
      harness().clock.advance(hourMs);
      const grouped = { product_score: 3.5, total_reviews: 2 };
      expect((await reviews.bottomLines({})).bottomlines).toEqual([
        { domain_key: "a", ...grouped },
        { domain_key: "a", product_score: 5, total_reviews: 1 },
        { domain_key: "b", ...grouped },
        { domain_key: "b", product_score: 2, total_reviews: 1 },
        { domain_key: "c", ...grouped },
        { domain_key: "c", product_score: 0, total_reviews: 0 },
      ]);
      expect((await reviews.widget({ product_id: "c" })).reviews).toHaveLength(2);
      expect(await reviews.bottomLine({ product_id: "c" })).toMatchObject({
        bottomline: { average_score: 3.5, total_reviews: 2 },
      });
      await groups.update({ group_name: "pots", product_ids_to_remove: ["a", "c"] });
      harness().clock.advance(hourMs);
      expect((await reviews.bottomLines({})).bottomlines).toEqual([
        { domain_key: "a", product_score: 5, total_reviews: 1 },
        { domain_key: "b", product_score: 2, total_reviews: 1 },
        { domain_key: "b", product_score: 2, total_reviews: 1 },
      ]);
      expect((await reviews.widget({ product_id: "c" })).reviews).toHaveLength(0);
      expect((await reviews.widget({ product_id: "a" })).reviews).toHaveLength(1);
    });

    it("change for all products of a group with the reviews of one", async () => {
      const account = await newAccount();
      const { groups, reviews } = account.service;
      await store(account, { sku: "a", review_score: 5 }, { sku: "b", review_score: 2 }, { sku: "c" });
      await groups.create({ group_name: "pots" });
      await groups.update({ group_name: "pots", product_ids_to_add: ["a", "b"] });
      harness().clock.advance(hourMs);
      expect((await reviews.bottomLines({})).bottomlines).toHaveLength(5);
      harness().clock.advance(dayMs);
      await store(account, { sku: "b", review_score: 2 });
      harness().clock.advance(hourMs);
      const changed = await reviews.bottomLines({ since_date: "2026-03-16" });
      expect(changed.bottomlines).toEqual([
        { domain_key: "a", product_score: 3, total_reviews: 3 },
        { domain_key: "a", product_score: 5, total_reviews: 1 },
        { domain_key: "b", product_score: 3, total_reviews: 3 },
        { domain_key: "b", product_score: 2, total_reviews: 2 },
      ]);
    });
  });

  describe("setPublished", () => {
    it("unpublishes and republishes a review everywhere, and records both", async () => {
      const account = await newAccount();
      const { reviews } = account.service;
      const [id = 0] = await store(account, {});
      const off = await reviews.setPublished({ review_id: id, published: false, reason: "rude", by: "Eve" });
      expect(off.review).toMatchObject({ id, deleted: true });
      expect((await reviews.widget({ product_id: "teapot" })).reviews).toEqual([]);
      expect(await reviews.bottomLine({ product_id: "teapot" })).toMatchObject({ bottomline: { total_reviews: 0 } });
      expect((await reviews.top({})).reviews).toEqual([]);
      expect((await reviews.list({})).reviews).toEqual([]);
      expect((await reviews.list({ deleted: true })).reviews).toMatchObject([{ id, deleted: true }]);
      await expect(reviews.get({ review_id: id })).rejects.toMatchObject({ kind: "recordNotFound" });
      await expect(reviews.vote({ review_id: id, vote_type: "up" })).rejects.toMatchObject({ kind: "recordNotFound" });
      await reviews.setPublished({ review_id: id, published: true, reason: "a mistake" });
      expect((await reviews.widget({ product_id: "teapot" })).pagination.total).toBe(1);
      const { events } = await reviews.history({ review_id: id });
      expect(events.map(({ event, by, reason }) => [event, by, reason])).toEqual([
        ["created", "USER", null],
        ["unpublished", "Eve", "rude"],
        ["published", "MODERATOR", "a mistake"],
      ]);
    });

    it("is made by the person that the caller names, unless the call names another", async () => {
      const account = await newAccount();
      const [id = 0] = await store(account, {});
      const by = "Zoë, 100% Ünal";
      const { reviews } = harness().service({ ...account.caller, by });
      await reviews.setPublished({ review_id: id, published: false, reason: "rude" });
      await reviews.setPublished({ review_id: id, published: true, reason: "a mistake", by: "Eve" });
      await reviews.comment({ review_id: id, content: "Thanks" });
      const { events } = await reviews.history({ review_id: id });
      expect(events.map((event) => event.by)).toEqual(["USER", by, "Eve", by]);
      const tooLong = harness().service({ ...account.caller, by: "x".repeat(1_025) });
      const hiding = tooLong.reviews.setPublished({ review_id: id, published: false, reason: "rude" });
      await expect(hiding).rejects.toMatchObject({ kind: "invalidParams" });
    });

    it("leaves the same data if repeated, as a comment does", async () => {
      const account = await newAccount();
      const { reviews, webhooks } = account.service;
      const [id = 0] = await store(account, {});
      await webhooks.create({ url: "https://shop.example/hook", event_name: "review_updated" });
      const off = { review_id: id, published: false, reason: "rude" };
      const once = await reviews.setPublished(off);
      harness().clock.advance(60_000);
      expect(await reviews.setPublished(off)).toEqual(once);
      const comment = await reviews.comment({ review_id: id, content: "Thanks" });
      harness().clock.advance(60_000);
      expect(await reviews.comment({ review_id: id, content: "Thanks" })).toEqual(comment);
      await reviews.setPublished({ ...off, reason: "very rude" });
      const { events } = await reviews.history({ review_id: id });
      expect(events.map(({ event, reason }) => [event, reason])).toEqual([
        ["created", null],
        ["unpublished", "rude"],
        ["commented", null],
        ["unpublished", "very rude"],
      ]);
      const deliveries = await harness()
        .database.db.selectFrom("webhook_deliveries")
        .where("account_id", "=", await harness().newestAccountId())
        .select("id")
        .execute();
      expect(deliveries).toHaveLength(3);
    });

    it("ignores repeated changes, and requires a reason and a review of the account", async () => {
      const account = await newAccount();
      const [id = 0] = await store(account, {});
      const off = { review_id: id, published: false, reason: "rude" };
      await account.service.reviews.setPublished(off);
      await account.service.reviews.setPublished(off);
      expect(await account.service.reviews.bottomLine({ product_id: "teapot" })).toMatchObject({
        bottomline: { total_reviews: 0 },
      });
      await expect(account.service.reviews.setPublished({ ...off, reason: "" })).rejects.toMatchObject({
        message: "Missing reason",
      });
      const other = await newAccount();
      for (const call of [
        () => other.service.reviews.setPublished(off),
        () => other.service.reviews.comment({ review_id: id, content: "x" }),
        () => other.service.reviews.history({ review_id: id }),
      ]) {
        await expect(call()).rejects.toMatchObject({ kind: "recordNotFound" });
      }
    });
  });

  describe("list", () => {
    it("pages, and starts at the requested ID or day", async () => {
      const account = await newAccount();
      const ids = await store(account, {}, {}, {});
      harness().clock.advance(dayMs);
      ids.push(...(await store(account, {}, {})));
      await account.service.reviews.comment({ review_id: ids[0] ?? 0, content: "Thanks" });
      const list = async (query: InputOf<"reviews.list">) =>
        (await account.service.reviews.list(query)).reviews.map(({ id }) => ids.indexOf(id));
      expect(await list({ count: 2 })).toEqual([0, 1]);
      expect(await list({ count: 2, page: 3 })).toEqual([4]);
      expect(await list({ count: 2, page: 4 })).toEqual([]);
      expect(await list({ since_id: ids[3] ?? 0 })).toEqual([3, 4]);
      expect(await list({ since_date: "2026-03-16" })).toEqual([3, 4]);
      // By ID, so that a review that changes meanwhile moves no other one.
      expect(await list({ since_updated_at: "2026-03-16" })).toEqual([0, 3, 4]);
      expect(await list({ since_updated_at: "2026-03-16", since_id: ids[3] ?? 0 })).toEqual([3, 4]);
    });

    it("starts at the requested time", async () => {
      const account = await newAccount();
      await store(account, {}, {});
      const createdMs = harness().clock();
      harness().clock.advance(hourMs);
      const [id = 0] = await store(account, {});
      await account.service.reviews.comment({ review_id: id, content: "Thanks" });
      const { reviews } = await account.service.reviews.list({});
      const latest = reviews.findIndex((review) => review.id === id);
      const { created_at = "", updated_at = "" } = reviews[latest] ?? {};
      expect(Date.parse(updated_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
      const count = async (query: InputOf<"reviews.list">) =>
        (await account.service.reviews.list(query)).reviews.length;
      const after = (text: string, ms: number) => new Date(Date.parse(text) + ms).toISOString();
      expect(await count({ since_date: created_at })).toBe(1);
      expect(await count({ since_date: after(created_at, 1) })).toBe(0);
      expect(await count({ since_date: new Date(createdMs + 1).toISOString() })).toBe(1);
      expect(await count({ since_updated_at: updated_at.replace("Z", "") })).toBe(1);
      expect(await count({ since_updated_at: after(updated_at, hourMs).replace("Z", "+01:00") })).toBe(1);
      expect(await count({ since_updated_at: after(updated_at, hourMs + 1).replace("Z", "+0100") })).toBe(0);
    });
  });
});
