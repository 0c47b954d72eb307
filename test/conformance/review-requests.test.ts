import { expect, it } from "vitest";
import { newAccountPerProduct } from "../support/due-emails.ts";
import { imageLimits, type ReviewRequest } from "../../src/contract/index.ts";
import { describeIsolated, type Harness, startMs } from "../support/backends.ts";
import { anOrderedProduct, aReview } from "../support/builders.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { createOrderEmails, readStoredEmails, createLinkTokens } from "../support/email-links.ts";
import { readEmailCounts } from "../support/emails.ts";
import { tinyPng } from "../support/photos.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const formFields = { score: "4", title: "Pours well", content: "No drips.\r\nNone.", display_name: "Ann Tea" };
const storedReview = {
  score: 4,
  title: "Pours well",
  content: "No drips.\nNone.",
  display_name: "Ann T.",
  verified_buyer: true,
  created_at: new Date(startMs).toISOString(),
};
const goneRequest = { state: "gone", product: null, review: null, my_reviews_url: "" };

/** Creates an account with an order, and returns the token of its review page. */
async function setUp(harness: Harness, order: Record<string, unknown> = {}) {
  const account = await newAccountPerProduct(harness, "Tea Shop");
  const [email] = await createOrderEmails(harness, account, order);
  if (!email) throw new Error("the order created no email");
  const { reviewRequests } = harness.service({});
  const tokens = createLinkTokens(harness, email);
  return { account, mail: email, tokens, token: tokens.review(), ...reviewRequests };
}

async function readReviews({ database }: Harness) {
  return database.db
    .selectFrom("reviews")
    .innerJoin("users", (join) =>
      join.onRef("users.account_id", "=", "reviews.account_id").onRef("users.id", "=", "reviews.user_row"),
    )
    .leftJoin("orders", (join) =>
      join.onRef("orders.account_id", "=", "reviews.account_id").onRef("orders.id", "=", "reviews.order_row"),
    )
    .select(["title", "content", "reviews.score", "reviewer_type", "users.email", "display_name"])
    .select(["reviews.user_reference", "orders.order_id"])
    .orderBy("reviews.id")
    .execute();
}

describeIsolated("review requests", (harness) => {
  it("ask for a review of the product under the customer's name", async () => {
    const { token, show } = await setUp(harness());
    expect((await show({ token })).request).toEqual({
      state: "ready",
      is_test: false,
      is_site: false,
      is_unsubscribed: false,
      store_name: "Tea Shop",
      product: { name: "Teapot", url: "https://shop.example/teapot", image_url: null },
      fields: { score: "", title: "", content: "", display_name: "Ann" },
      problems: [],
      review: null,
      photos_url: null,
      my_reviews_url: expect.stringMatching(/\/pages\/\w+\/my_reviews$/) as string,
    } satisfies ReviewRequest);
  });

  it("select the rating of a star link, and ignore invalid ones", async () => {
    const { token, show, write } = await setUp(harness());
    for (const score of ["1", "2", "3", "4", "5"]) {
      expect((await show({ token, score })).request).toMatchObject({ state: "ready", fields: { score } });
    }
    for (const score of ["0", "6", "05", "4.5", "four", "٤", ["1", "2"], null]) {
      const { request } = await show({ token, score: score as string });
      expect(request, JSON.stringify(score)).toMatchObject({
        state: "ready",
        fields: { score: "", display_name: "Ann" },
      });
    }
    expect(await readReviews(harness())).toEqual([]);
    expect(await readEmailCounts(harness(), "map")).not.toHaveProperty("clicks");
    await write({ token, ...formFields });
    expect((await show({ token, score: "1" })).request).toMatchObject({ state: "done", review: storedReview });
  });

  it("offer to add photos to the review, which are public at once, until it has the maximum", async () => {
    const { account, token, show, write } = await setUp(harness());
    expect((await show({ token })).request.photos_url).toBeNull();
    await write({ token, ...formFields });
    for (let photos = 1; photos <= imageLimits.perReview; photos += 1) {
      const { photos_url } = (await show({ token })).request;
      const image_upload_token = photos_url?.split("/").at(-1) ?? "";
      const added = await harness().service({}).forms.addPhoto({ image_upload_token, image: tinyPng });
      expect(added.form).toMatchObject({ photos, is_confirmed: true, review_state: "public", problem: null });
    }
    expect((await show({ token })).request.photos_url).toBeNull();
    const { reviews } = await account.service.reviews.widget({ product_id: "teapot" });
    expect(reviews[0]?.images_data).toHaveLength(imageLimits.perReview);
  });

  it("create one review by a verified buyer, however often they are submitted", async () => {
    const order = { email: "Ann@Mail.example", user_reference: "customer-7" };
    const { account, token, show, write } = await setUp(harness(), order);
    const first = await write({ token, ...formFields });
    expect(first.request).toMatchObject({ state: "done", problems: [], review: storedReview });
    const repeated = await write({ token, ...formFields, title: "Another" });
    // Each has a token of its own.
    const photos_url = expect.stringMatching(/\/starpost\/v1\/p\//) as string;
    const same = { request: { ...first.request, photos_url } };
    expect([repeated, await show({ token })]).toEqual([same, same]);
    expect(await readReviews(harness())).toEqual([
      {
        title: "Pours well",
        content: "No drips.\nNone.",
        score: 4,
        reviewer_type: "verified_buyer",
        email: "Ann@Mail.example",
        display_name: "Ann Tea",
        user_reference: "customer-7",
        order_id: "1001",
      },
    ]);
    const { reviews, bottomline } = await account.service.reviews.widget({ product_id: "teapot" });
    expect(bottomline).toMatchObject({ total_review: 1, average_score: 4 });
    expect(reviews[0]).toMatchObject({ verified_buyer: true, user: { display_name: "Ann T." } });
    const byUser = await account.service.reviews.listByUser({ user_reference: "customer-7" });
    expect(byUser.total_reviews).toBe(1);
  });

  it("send one webhook for the review, and count one click", async () => {
    const { account, token, write } = await setUp(harness());
    await account.service.webhooks.create({ url: "https://shop.example/hook", event_name: "review_create" });
    for (const _ of [1, 2]) await write({ token, ...formFields });
    const deliveries = await harness().database.db.selectFrom("webhook_deliveries").select("body").execute();
    expect(deliveries).toHaveLength(1);
    expect(JSON.parse(deliveries[0]?.body ?? "")).toMatchObject({
      event: "review_create",
      data: { verified_buyer: true, customer_email: "ann@mail.example", order_id: "1001", sku: "teapot" },
    });
    expect(await readEmailCounts(harness(), "map")).toMatchObject({ clicks: 1, unique_clicks: 1 });
  });

  it("report every problem, keep the entered values, and store nothing", async () => {
    const { token, show, write } = await setUp(harness());
    const empty = (await write({ token })).request;
    expect(empty).toMatchObject({ state: "ready", review: null });
    expect(empty.problems.map(({ field }) => field)).toEqual(["score", "title", "content", "display_name"]);
    const invalidFields = {
      score: "6",
      title: " \u200B\u202E ",
      content: "x".repeat(10_001),
      display_name: "null \u0000 byte",
    };
    const { request } = await write({ token, ...invalidFields });
    expect(request.fields).toEqual(invalidFields);
    expect(request.problems).toEqual([
      { field: "score", error: "Choose how many stars you give, from 1 to 5." },
      { field: "title", error: "Write a title: your review in a few words." },
      { field: "content", error: "The review is longer than 10,000 characters; it has 10,001." },
      { field: "display_name", error: "The name contains a character that cannot be stored. Remove it and try again." },
    ]);
    for (const score of ["0", "05", "4.5", "٤", "four", "1e0"]) {
      expect((await write({ token, ...formFields, score })).request.problems).toHaveLength(1);
    }
    expect(await readReviews(harness())).toEqual([]);
    expect((await show({ token })).request.fields).toMatchObject({ display_name: "Ann", title: "" });
    expect(await readEmailCounts(harness(), "map")).not.toHaveProperty("clicks");
  });

  it("count line breaks as one character, and accept texts of the maximum length", async () => {
    const { token, write } = await setUp(harness());
    const content = `${"x".repeat(9_998)}\r\ny`;
    const { request } = await write({ token, ...formFields, content, title: "t".repeat(150) });
    expect(request.problems).toEqual([]);
    expect(request.review?.content).toBe(content.replace("\r\n", "\n"));
  });

  it("store hostile texts unchanged", async () => {
    const account = await newAccountPerProduct(harness());
    const products = Object.fromEntries(
      hostileTexts.map((_text, at) => [`pot${at}`, anOrderedProduct({ name: "A pot" })]),
    );
    const emails = await createOrderEmails(harness(), account, { products });
    const { reviewRequests } = harness().service({});
    for (const [at, text] of hostileTexts.entries()) {
      const token = createLinkTokens(harness(), emails[at] ?? emails[0]!).review();
      const { request } = await reviewRequests.write({
        ...formFields,
        token,
        content: text,
        title: text.slice(0, 150),
      });
      expect(request.review?.content, JSON.stringify(text)).toBe(text.replaceAll(/\r\n?/g, "\n").trim());
    }
    expect(await readReviews(harness())).toHaveLength(hostileTexts.length);
  });

  it("reuse an existing user, and update the display name", async () => {
    const { account, token, show, write } = await setUp(harness());
    const links = harness().service({}).links;
    await account.service.reviews.create(aReview({ sku: "pan", display_name: "Ann of Old" }));
    const [, verification] = await readStoredEmails(harness());
    const row = await harness()
      .database.db.selectFrom("mails")
      .select("data")
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
    const { verify_url } = JSON.parse(row.data) as { verify_url: string };
    expect(verification).toBeDefined();
    await links.follow({ token: verify_url.slice(verify_url.lastIndexOf("/") + 1) });
    expect((await show({ token })).request.fields.display_name).toBe("Ann of Old");
    await write({ token, ...formFields });
    const users = await harness()
      .database.db.selectFrom("users")
      .select("display_name")
      .where("kind", "=", "shopper")
      .execute();
    expect(users).toEqual([{ display_name: "Ann Tea" }]);
  });

  it("exist for each product of an order, even if one email covers them all", async () => {
    const account = await newAccountPerProduct(harness());
    await account.service.emailRules.set({ name: "one_mail_per", value: "order" });
    const products = { teapot: anOrderedProduct(), pan: anOrderedProduct({ name: "Pan" }) };
    const emails = await createOrderEmails(harness(), account, { products });
    expect(emails).toHaveLength(1);
    const { review } = createLinkTokens(harness(), emails[0]!);
    const rows = await harness().database.db.selectFrom("products").select(["id", "name"]).orderBy("id").execute();
    const { reviewRequests } = harness().service({});
    for (const { id, name } of rows) {
      const { request } = await reviewRequests.write({ token: review(id), ...formFields });
      expect(request).toMatchObject({ state: "done", product: { name } });
    }
    expect(await readReviews(harness())).toHaveLength(2);
    expect(await readEmailCounts(harness(), "map")).toMatchObject({ clicks: 1 });
  });

  it("expire after 90 days, or if the product or the email is deleted", async () => {
    const { token, tokens, show, write } = await setUp(harness());
    harness().clock.advance(90 * dayMs - 1);
    expect((await show({ token })).request.state).toBe("ready");
    harness().clock.advance(1);
    for (const call of [show, write]) {
      expect((await call({ token, ...formFields })).request).toMatchObject(goneRequest);
      expect((await call({ token: tokens.review(999), ...formFields })).request).toMatchObject(goneRequest);
    }
    const fresh = tokens.review();
    await harness().database.db.deleteFrom("mails").execute();
    expect((await write({ token: fresh, ...formFields })).request).toMatchObject(goneRequest);
    expect(await readReviews(harness())).toEqual([]);
  });

  it("reject invalid tokens", async () => {
    const { token, tokens, show, write } = await setUp(harness());
    const other = await setUp(harness(), { order_id: "2" });
    const changed = token.slice(0, 40) + (token[40] === "A" ? "B" : "A") + token.slice(41);
    for (const invalidFields of ["x", changed, `${token}A`, tokens.unsubscribe(), tokens.open(), "…"]) {
      for (const call of [show, write]) {
        expect((await call({ token: invalidFields, ...formFields })).request, invalidFields).toMatchObject(goneRequest);
      }
    }
    const links = harness().service({}).links;
    expect((await links.show({ token })).link.state).toBe("gone");
    // A product of another account.
    const otherProduct = tokens.review(other.mail.productRow);
    expect((await show({ token: otherProduct })).request).toMatchObject(goneRequest);
    expect((await show({ token })).request.state).toBe("ready");
  });

  it("work for an unsubscribed address, and report it", async () => {
    const { token, tokens, show, write } = await setUp(harness());
    await harness().service({}).links.follow({ token: tokens.unsubscribe() });
    expect((await show({ token })).request).toMatchObject({ state: "ready", is_unsubscribed: true });
    expect((await write({ token, ...formFields })).request).toMatchObject({ state: "done", review: storedReview });
  });

  it("of a test email show the page, and store nothing", async () => {
    const account = await newAccountPerProduct(harness());
    await account.service.emails.sendTest({ email: "me@shop.example" });
    const [email] = await readStoredEmails(harness());
    const token = createLinkTokens(harness(), email!).review();
    const { show, write } = harness().service({}).reviewRequests;
    expect((await show({ token })).request).toMatchObject({ state: "ready", is_test: true });
    const { request } = await write({ token, ...formFields });
    expect(request).toMatchObject({ state: "done", is_test: true, review: storedReview });
    expect((await show({ token })).request).toMatchObject({ state: "ready", review: null });
    expect(await readReviews(harness())).toEqual([]);
  });
});
