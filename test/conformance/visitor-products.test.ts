import { expect, it } from "vitest";
import { publicLimits } from "../../src/contract/index.ts";
import { renderOutgoing } from "../../src/email/templates/render-email.ts";
import { buildOutgoingEmails } from "../../src/engine/emails/sending/outgoing-emails.ts";
import { renderDocument } from "../../src/pages/document.ts";
import { topReviewsPage } from "../../src/pages/pages.ts";
import { seoPage } from "../../src/pages/seo-page.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOrders } from "../support/builders.ts";
import { aQuestion, lastToken, readEmails } from "../support/emails.ts";

const product_id = "prize";
const url = "https://evil.example/win";
const stated = {
  product_title: `Win at ${url}`,
  product_url: url,
  product_image_url: "https://evil.example/win.png",
  product_description: "Go to evil.example",
};
const review = aReview({ ...stated, sku: product_id, user_reference: "stranger" });
const question = aQuestion({ ...stated, product_id, product_tags: "evil.example" });
const evil = /evil\.example/;

type Open = () => Harness;

const visit = (harness: Open, { caller }: TestAccount) => harness().service({ appKey: caller.appKey });

/** Everything that others see of the product, as text. */
async function readPublic(harness: Open, account: TestAccount): Promise<readonly string[]> {
  const service = visit(harness, account);
  const top = await service.reviews.top({});
  const { page } = await service.seo.page({ product_id });
  const listed = await service.reviews.listByUser({ user_reference: "stranger" });
  const methods = [{ method: "main_widget" as const, params: { pid: product_id } }];
  const shown: unknown[] = [
    top,
    renderDocument(topReviewsPage(top)),
    page,
    renderDocument(seoPage({ page })),
    listed,
    await service.reviews.widget({ product_id }),
    await service.products.promoted({}),
    await service.batch.run({ methods }),
    ...(await Promise.all(listed.reviews.map(({ id }) => service.reviews.get({ review_id: id })))),
  ];
  return shown.map((value) => JSON.stringify(value));
}

const countLinks = async (harness: Open, account: TestAccount) =>
  (await readPublic(harness, account)).filter((text) => evil.test(text)).length;

/** The emails of the account, as they would be sent. */
async function renderEmails({ work, newestAccountId }: Harness) {
  const ownerId = await newestAccountId();
  const emails = await work.read(async (context) => {
    const rows = await context.transaction.selectFrom("mails").selectAll().orderBy("id").execute();
    const products = await context.transaction.selectFrom("products").select("id").execute();
    const approved = rows.map((row) => ({ row, productRows: products.map(({ id }) => id) }));
    return buildOutgoingEmails(approved, { ...context, ownerId });
  });
  return Promise.all(
    emails.map(async (email) => Object.assign(await renderOutgoing(email), { category: email.category })),
  );
}

describeIsolated("a product that only visitors have named", (harness) => {
  const open = async () => {
    const account = await harness().newAccount("Tea Shop");
    const visitor = visit(harness, account);
    const created = await visitor.reviews.createNow(review);
    await visitor.questions.sendConfirmation(question);
    return { account, visitor, created, service: account.service };
  };

  it("has no link, no image, and no description in public, and the fields of the specification", async () => {
    const { account, created, visitor } = await open();
    expect(await countLinks(harness, account)).toBe(0);
    expect(JSON.stringify(created)).not.toMatch(evil);
    const name = "Win at https: //evil. example/win";
    expect(created.reviews[0]?.products[0]?.Product).toMatchObject({
      name,
      product_url: "",
      shorten_url: "",
      images: [],
    });
    expect(created.reviews[0]?.products_apps[0]).toMatchObject({ product_url: "", product: { name } });
    const { products, product_tags } = await visitor.reviews.widget({ product_id });
    expect([products[0]?.product_link, products[0]?.name, product_tags]).toEqual(["", name, []]);
    expect((await visitor.reviews.top({})).reviews[0]).toMatchObject({ product_url: "", image_url: null });
    expect((await visitor.products.promoted({})).products[0]).toMatchObject({ url: "", image: "", name });
    expect((await visitor.seo.page({ product_id })).page).toMatchObject({
      url: "",
      image_url: null,
      description: null,
    });
  });

  it("is shown to the store as it was stated", async () => {
    const { service } = await open();
    const { reviews } = await service.reviews.list({ details: true });
    expect(reviews[0]).toMatchObject({ product_url: url, product_title: stated.product_title });
    expect((await service.core.listProducts({})).products[0]).toMatchObject({ url, name: stated.product_title });
  });

  it.each([
    ["https://shop.example/win", true],
    ["http://WWW.shop.example:8443/win", true],
    ["https://tea.shop.example/win", true],
    ["https://shop.example.evil.example/", false],
    ["https://evilshop.example/", false],
    ["https://shop.example@evil.example/", false],
    [String.raw`https://evil.example\@shop.example/`, false],
    ["https://evil.example/?shop.example", false],
    ["https://evil.example#shop.example", false],
  ])("has the link %s if it is on a domain of the store: %j", async (product_url, isShown) => {
    const account = await harness().newAccount("Tea Shop");
    const visitor = visit(harness, account);
    await visitor.reviews.createNow({ ...review, product_title: "Win", product_url, product_image_url: product_url });
    const [shown] = (await visitor.reviews.top({})).reviews;
    expect([shown?.product_url, shown?.image_url]).toEqual(isShown ? [product_url, product_url] : ["", null]);
  });

  const own = aProduct({ name: "Prize", url: "https://other.example/prize" });
  const ordered = anOrderedProduct(own);
  const ofStore = { ...aReview(), sku: product_id, product_title: "Prize", product_url: "https://other.example/prize" };
  it.each<[string, (account: TestAccount) => Promise<unknown>]>([
    ["imports it", ({ service }) => service.products.massCreate({ products: { [product_id]: own } })],
    [
      "imports it with an empty description",
      ({ service }) =>
        service.products.massUpdate({ products: { [product_id]: { ...own, description: "" }, other: own } }),
    ],
    [
      "updates its name",
      ({ service }) => service.products.massUpdate({ products: { [product_id]: { name: "Prize" } } }),
    ],
    [
      "gets an order of it",
      ({ service }) => service.orders.massCreate(bulkOrders([anOrder({ products: { [product_id]: ordered } })])),
    ],
    ["creates a review of it", ({ service }) => service.reviews.createNow(ofStore)],
    [
      "asks a question about it",
      ({ service }) => service.questions.sendConfirmation({ ...question, product_title: "Prize", ...aStoreQuestion }),
    ],
  ])("keeps nothing of what they stated once the store %s", async (_, confirm) => {
    const { account, visitor } = await open();
    await confirm(account);
    expect(await countLinks(harness, account)).toBe(0);
    const stored = await harness().database.db.selectFrom("products").selectAll().execute();
    expect(JSON.stringify(stored)).not.toMatch(evil);
    const [shown] = (await visitor.reviews.top({})).reviews;
    expect(["https://other.example/prize", ""]).toContain(shown?.product_url);
    expect((await visitor.reviews.widget({ product_id })).products[0]?.name).toBe("Prize");
  });

  it("is confirmed when the store publishes a review of it, also again, which is no reason to trust its domain", async () => {
    const { account, service, created, visitor } = await open();
    const review_id = created.reviews[0]?.id ?? 0;
    await service.reviews.setPublished({ review_id, published: false, reason: "Spam" });
    expect(await countLinks(harness, account)).toBe(0);
    await service.reviews.setPublished({ review_id, published: true, reason: "Good" });
    expect((await visitor.reviews.top({})).reviews[0]).toMatchObject({ product_url: url });
    expect(await countLinks(harness, account)).toBe(9);
    await visitor.reviews.createNow({ ...review, sku: "other", product_title: "Other" });
    await harness().database.db.updateTable("users").set({ url: "" }).where("kind", "=", "owner").execute();
    expect((await visitor.reviews.widget({ product_id: "other" })).products[0]?.product_link).toBe("");
    // A later name of the store replaces the link.
    await service.products.massUpdate({ products: { [product_id]: { name: "Prize" } } });
    expect((await visitor.reviews.widget({ product_id })).products[0]?.product_link).toBe("");
    expect((await visitor.reviews.widget({ product_id: "other" })).products[0]?.product_link).toBe("");
  });

  it("puts no link into any email", async () => {
    const { service, visitor, account } = await open();
    await visitor.reviews.create({ ...review, display_name: `Ann ${url}`, review_title: url, review_content: url });
    await visitor.questions.sendConfirmation({ ...question, display_name: url, review_content: `Is it ${url}?` });
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    const { questions } = await service.questions.search({});
    const question_id = questions[0]?.id ?? 0;
    await service.answers.create({ question_id, content: "See https://shop.example/help" });
    await service.answers.create({ question_id, content: url, display_name: "Bo", email: "bo@mail.example" });
    const newest = (await service.reviews.list({})).reviews.at(-1)?.id ?? 0;
    await harness().database.db.updateTable("reviews").set({ reviewer_type: "verified_reviewer" }).execute();
    await service.reviews.comment({ review_id: newest, content: "Thank you!" });
    // An order does not change a product that is older than its import.
    const orders = bulkOrders([anOrder({ products: { [product_id]: ordered } })], { update_products_since_id: 1_000 });
    await service.orders.massCreate(orders);
    const emails = await renderEmails(harness());
    const categories = new Set(emails.map(({ category }) => category));
    expect([...categories].toSorted()).toEqual([
      "anonymous_testimonials_request",
      "answer_notification_shop_owner",
      "answer_notification_shoppers",
      "answer_request_shop_owner",
      "comment_notification",
      "comment_request",
      "map",
      "question_confirmation",
    ]);
    for (const { category, subject, text, html } of emails) {
      expect(subject + text + html, category).not.toMatch(
        /https?:\/\/(?!shop\.example|127\.0\.0\.1|www\.w3\.org\/1999\/xhtml")|evil\.example/,
      );
    }
    const answered = emails.find(({ category }) => category === "answer_notification_shoppers");
    expect(answered?.text).toContain("See https://shop.example/help");
    const asked = emails.find(({ category }) => category === "answer_request_shop_owner");
    expect(asked?.subject).toBe("New question about Win at https: //evil. example/win");
    expect(asked?.text).toMatch(new RegExp(`See the product: \\S+/pages/${account.caller.appKey}/products/prize`));
    expect(asked?.text).not.toContain("waits");
  });
});

const aStoreQuestion = {
  product_url: "https://other.example/prize",
  product_image_url: null,
  product_description: null,
  product_tags: null,
};

describeIsolated(
  "where public limits are on, a product that only visitors have named",
  (harness) => {
    it("has its reviews held until the store publishes them", async () => {
      const account = await harness().newAccount("Tea Shop");
      const visitor = visit(harness, account);
      await visitor.reviews.createNow({ ...review, product_title: "Win" });
      await visitor.reviews.createNow({ ...review, sku: "b", product_url: "https://shop.example/b" });
      await visitor.reviews.createNow({
        ...review,
        sku: "c",
        product_title: "Win",
        product_url: "https://shop.example/c",
      });
      await visitor.reviews.createNow({ ...review, sku: "d", product_title: "Win", product_url: null });
      const { reviews } = await account.service.reviews.queue({});
      expect(reviews.map(({ sku, held_because }) => [sku, held_because])).toEqual([
        [product_id, "the store has not confirmed the product, whose link leads to evil.example"],
        ["b", "the title of the product contains a link"],
        ["d", "the store has not confirmed the product"],
      ]);
      await account.service.reviews.setPublished({ review_id: reviews[0]?.id ?? 0, published: true, reason: "Good" });
      await visitor.reviews.createNow({ ...review, email: "bo@mail.example" });
      expect((await visitor.reviews.widget({ product_id })).bottomline.total_review).toBe(2);
    });

    it("has its reviews held once a rule no longer holds them, and is not confirmed by a rule", async () => {
      const account = await harness().newAccount("Tea Shop");
      const visitor = visit(harness, account);
      await account.service.reviewRules.add({ action: "hold", words: ["slow"], verification: "anonymous" });
      await account.service.reviewRules.add({ action: "publish", words: ["fast"] });
      await visitor.reviews.create({ ...review, product_title: "Win", review_content: "It is slow." });
      await account.service.links.follow({ token: await lastToken(harness(), "verify_url") });
      const { reviews } = await account.service.reviews.queue({});
      expect(reviews.map(({ held_because, reviewer_type }) => [held_because, reviewer_type])).toEqual([
        ["the store has not confirmed the product, whose link leads to evil.example", "verified_reviewer"],
      ]);
      await visitor.reviews.createNow({ ...review, product_title: "Win", review_content: "It is fast." });
      expect((await visitor.reviews.widget({ product_id })).bottomline.total_review).toBe(1);
      expect(await countLinks(harness, account)).toBe(0);
    });

    it("has its questions wait for the store, which is told how to publish them", async () => {
      const account = await harness().newAccount("Tea Shop");
      const { service } = account;
      const visitor = visit(harness, account);
      await visitor.questions.sendConfirmation(question);
      const token = await lastToken(harness(), "confirm_url");
      for (let again = 0; again < 2; again += 1) await service.links.follow({ token });
      expect((await service.links.show({ token })).link.state).toBe("done");
      expect(await visitor.questions.bottomLine({ sku: product_id })).toMatchObject({ total_questions: 0 });
      const { questions } = await service.questions.search({ state: "pending" });
      expect(questions).toMatchObject([{ state: "pending", user_type: "User" }]);
      const question_id = questions[0]?.id ?? 0;
      const { events } = await service.questions.history({ question_id });
      expect(events.map(({ event, by }) => [event, by])).toEqual([
        ["created", "USER"],
        ["confirmed", "USER"],
        ["held", "SERVICE"],
      ]);
      const notices = (await renderEmails(harness())).filter(
        ({ category }) => category === "answer_request_shop_owner",
      );
      expect(notices).toHaveLength(1);
      expect(notices[0]?.text).toContain(`publish it:\nstarpost questions publish ${question_id}`);
      await service.questions.setPublished({ question_id, published: true, reason: "Good" });
      expect(await visitor.questions.bottomLine({ sku: product_id })).toMatchObject({ total_questions: 1 });
    });

    it("does not delay those about other products", async () => {
      const account = await harness().newAccount("Tea Shop");
      const { service } = account;
      await service.products.massCreate({ products: { teapot: aProduct({ url: "https://other.example/pot" }) } });
      const visitor = visit(harness, account);
      await visitor.reviews.createNow(aReview());
      await visitor.questions.sendConfirmation(aQuestion());
      await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
      expect((await service.reviews.queue({})).total).toBe(0);
      expect(await visitor.questions.bottomLine({ sku: "teapot" })).toMatchObject({ total_questions: 1 });
      const notice = (await readEmails(harness())).find(({ category }) => category === "answer_request_shop_owner");
      expect(notice?.data).toMatchObject({ is_held: false, answer_url: "https://other.example/pot" });
    });
  },
  { publicLimits },
);
