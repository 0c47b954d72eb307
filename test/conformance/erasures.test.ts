import { sql } from "kysely";
import { expect, it } from "vitest";
import { type WebhookEvent, webhookEvents } from "../../src/contract/index.ts";
import { isDistributed } from "../../src/storage/postgres/distribution.ts";
import { describeBackends, type Harness } from "../support/backends.ts";
import { anOrder, aReview, bulkOrders } from "../support/builders.ts";
import { addCustomer, addModeration, bob, findWords, readTexts, wordsOf, zeb } from "../support/customers.ts";
import { createOrderEmails } from "../support/email-links.ts";

const { email } = zeb;

/** Indexes of words, copies of results, and public names made of names. */
const otherForms = /^(?:review|question)_words|^idempotent_calls\.|^users\.slug$/;

async function openShop(harness: Harness, events: readonly WebhookEvent[] = ["review_updated"]) {
  const account = await harness.newAccount("Shop");
  for (const event_name of events) {
    await account.service.webhooks.create({ url: "https://shop.example/", event_name });
  }
  await addCustomer(harness, account, bob);
  await addCustomer(harness, account, zeb);
  return account;
}

/** Where the customer's words are before the erasure: in some column of a table, and in these columns. */
const searchedTables = ["orders", "users", "reviews", "questions", "answers", "mails", "mail_events", "unsubscribers"];
const searchedColumns = [
  "products.url",
  "coupons.code",
  "webhook_deliveries.body",
  "webhook_attempts.problem",
  "review_events.reason",
  "review_events.previous",
  "question_events.previous",
  "question_events.reason",
  "mail_messages.headers",
  "review_words.words",
  "question_words.words",
  "idempotent_calls.response",
];

describeBackends("customers.erase", (harness) => {
  it.each(["anonymize", "delete"] as const)("leaves no trace of the customer (reviews: %s)", async (reviews) => {
    const account = await openShop(harness(), webhookEvents);
    const { service } = account;
    await addModeration(harness(), account, zeb);
    const { customer: other } = await service.customers.get({ email: bob.email });
    const before = await service.reviews.bottomLine({ product_id: "teapot" });
    // The planner's statistics contain values, which PostgreSQL collects now and then.
    const { db, dialect } = harness().database;
    if (dialect.name === "postgres") await sql`analyze`.execute(db);
    const places = new Set((await findWords(harness(), wordsOf(zeb))).map((place) => place.split(":")[0]));
    // With Citus, they are on the servers of the accounts.
    const hasStatistics = dialect.name === "postgres" && !(await isDistributed(db));
    expect(places.has("orders.email (statistics)")).toBe(hasStatistics);
    for (const table of searchedTables) {
      expect([...places].some((place) => place?.startsWith(`${table}.`))).toBe(true);
    }
    for (const column of searchedColumns) expect(places).toContain(column);
    const { plan } = await service.customers.planErasure({ email, reviews });
    const { erasure, removed } = await service.customers.erase({ email, reviews });
    expect(await findWords(harness(), wordsOf(zeb))).toEqual([]);
    expect(removed).toBe(true);
    expect(erasure.counts).toEqual({ ...plan.counts, mentions: erasure.counts.mentions });
    expect(plan.counts).toMatchObject({
      orders: 1,
      reviews: 3,
      images: 1,
      questions: 1,
      answers: 2,
      unsubscriptions: 1,
      suppressions: 1,
      missed_products: 1,
      stored_results: 2,
    });
    expect(plan.counts.canceled_mails).toBeGreaterThan(0);
    expect(plan.counts.mails_to_others).toBeGreaterThan(0);
    expect(plan.counts.webhook_deliveries).toBeGreaterThan(0);
    expect(erasure.counts.mentions).toBeGreaterThan(0);
    expect((await service.customers.get({ email: bob.email })).customer).toEqual(other);
    const after = await service.reviews.bottomLine({ product_id: "teapot" });
    expect(after.bottomline.total_reviews).toBe(before.bottomline.total_reviews - (reviews === "delete" ? 2 : 0));
    expect(await service.questions.bottomLine({ sku: "teapot" })).toEqual({ total_questions: 1, total_answers: 1 });
  });

  it("is preceded by an export that contains every text that it removes", async () => {
    const account = await openShop(harness());
    const { service } = account;
    await addModeration(harness(), account, zeb);
    const { questions } = await service.questions.search({ email });
    const question_id = questions[0]?.id ?? 0;
    const answer_id = questions[0]?.sorted_public_answers.find((answer) => answer.store_owner_comment)?.id ?? 0;
    await service.answers.edit({ answer_id, content: `A second answer about ${zeb.text}` });
    await service.answers.edit({ answer_id, content: "It does not.", reason: `not ${zeb.text}` });
    const { answer } = await service.answers.create({ question_id, content: "No", email, display_name: zeb.name });
    await service.answers.delete({ answer_id: answer.id, reason: `deleted for ${zeb.text}` });
    await service.questions.setPublished({ question_id, published: false, reason: `hidden for ${zeb.text}` });
    const { db } = harness().database;
    const { id: account_id } = await db
      .selectFrom("accounts")
      .select("id")
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
    await db.insertInto("test_recipients").values({ account_id, email_key: email, created_at: 1 }).execute();
    await service.reviewRules.add({ action: "hold", words: [zeb.name] });
    const exported = JSON.stringify((await service.customers.export({ email })).export).toLowerCase();
    const missing = new Set<string>();
    for await (const [place, text] of readTexts(harness())) {
      if (otherForms.test(place) || !wordsOf(zeb).some((word) => text.toLowerCase().includes(word))) continue;
      const quoted = JSON.stringify(text).slice(1, -1);
      if (![text, quoted].some((form) => exported.includes(form.toLowerCase()))) missing.add(`${place}: ${text}`);
    }
    expect([...missing]).toEqual([]);
    // The next tests search the complete database.
    await service.customers.erase({ email });
  });

  it.each([`x${email}`, `${email}.org`])("changes nothing of another customer, whose address is %s", async (longer) => {
    const account = await openShop(harness());
    const other = { ...bob, email: longer, name: "Other", orderId: "O1" };
    await addCustomer(harness(), account, other);
    const before = await account.service.customers.export({ email: longer });
    await account.service.customers.erase({ email });
    expect(await account.service.customers.export({ email: longer })).toEqual(before);
    // The next tests search the complete database.
    await account.service.customers.erase({ email: longer });
  });

  it("erases short answers, what is left of deleted texts, and notes of the store", async () => {
    const account = await openShop(harness(), ["question_asked", "question_answered"]);
    const { service } = account;
    const author = { email, display_name: zeb.name };
    const { questions } = await service.questions.search({ email: bob.email });
    const question_id = questions[0]?.id ?? 0;
    const { answer } = await service.answers.create({ question_id, content: "Quippy", ...author });
    const { answer: deleted } = await service.answers.create({ question_id, content: "Quirky", ...author });
    const { questions: own } = await service.questions.search({ email });
    await service.answers.delete({ answer_id: deleted.id, reason: `quaint words of ${zeb.name}`, by: zeb.name });
    await service.questions.delete({ question_id: own[0]?.id ?? 0, reason: `quarrel with ${zeb.name}` });
    await service.reviewRules.add({ action: "hold", words: [email, zeb.name] }, { idempotencyKey: "rule" });
    const { reviews } = await service.reviews.search({ email: bob.email });
    const reason = `${zeb.name} and zebulonia`;
    await service.reviews.setPublished({ review_id: reviews[0]?.id ?? 0, published: false, reason });
    const shop = ["quippy", "quirky", "quaint", "quarrel", "quarkfeather", email];
    expect((await findWords(harness(), shop)).length).toBeGreaterThan(10);
    await service.customers.erase({ email });
    expect(await findWords(harness(), shop)).toEqual([]);
    const { events } = await service.reviews.history({ review_id: reviews[0]?.id ?? 0 });
    expect(events.at(-1)?.reason).toMatch(/^erased-.*@erased\.invalid and zebulonia$/);
    const { rules } = await service.reviewRules.list({});
    const pseudonym = expect.stringMatching(/^erased-.*@erased\.invalid$/) as string;
    // Another word would make the rule apply to others, and no word to everyone.
    expect(rules[0]?.words).toEqual([pseudonym, pseudonym]);
    await expect(service.answers.vote({ answer_id: answer.id, vote_type: "up" })).rejects.toThrow();
    // The database is shared with other tests.
    await service.customers.erase({ email: bob.email });
  });

  it("changes nothing of a customer with the same name and texts", async () => {
    const account = await openShop(harness(), webhookEvents);
    const { service } = account;
    const twin = { ...zeb, email: "twin@mail.example", reference: "twin", orderId: "T1" };
    await addCustomer(harness(), account, twin);
    const review = { email: twin.email, display_name: twin.name, review_title: "Good", review_content: "Good" };
    const { reviews } = await service.reviews.search({ email: twin.email });
    const review_id = reviews[0]?.id ?? 0;
    const repeat = async () => [
      await service.reviews.createNow(aReview(review), { idempotencyKey: "twin" }),
      await service.reviews.comment(
        { review_id, content: `${zeb.text} comment, ${zeb.name}` },
        { idempotencyKey: "c" },
      ),
      await service.reviews.setPublished({ review_id, published: true, reason: `from ${zeb.name}` }),
    ];
    await service.reviews.createNow(aReview({ ...review, email, display_name: zeb.name }), { idempotencyKey: "zeb" });
    const results = await repeat();
    // Notes with the name are about either of them.
    const read = async () => ({ ...(await service.customers.export({ email: twin.email })).export, mentions: [] });
    const before = await read();
    await service.customers.erase({ email });
    expect(await read()).toEqual(before);
    expect((await repeat()).slice(0, 2)).toEqual(results.slice(0, 2));
    await service.customers.erase({ email: twin.email });
    expect(await findWords(harness(), wordsOf(zeb))).toEqual([]);
  });

  it("keeps orders under a pseudonym, verified buyers, and scores", async () => {
    const { service } = await openShop(harness());
    const { purchases: before } = await service.orders.list({});
    await service.customers.erase({ email });
    const { purchases, total_purchases } = await service.orders.list({});
    expect(total_purchases).toBe(before.length);
    const erased = purchases.filter(({ user_email }) => user_email.endsWith("@erased.invalid"));
    expect(erased).toMatchObject([{ user_name: "Anonymous" }, { user_name: "Anonymous" }]);
    expect(new Set(erased.map(({ user_email }) => user_email)).size).toBe(1);
    const { reviews } = await service.reviews.list({ deleted: true });
    expect(reviews.filter(({ name }) => name === "Anonymous")).toMatchObject([
      { title: "", content: "", score: 5, reviewer_type: "verified_buyer" },
      { title: "", content: "", score: 5 },
    ]);
  });

  it("suppresses the address by a hash, also for later orders, until the store lifts that", async () => {
    const account = await openShop(harness());
    const { service } = account;
    await service.customers.erase({ email });
    expect((await service.unsubscribers.list({})).unsubscribers.map(({ user_email }) => user_email)).toEqual([
      bob.email,
    ]);
    const { customer } = await service.customers.get({ email: email.toUpperCase() });
    expect(customer).toMatchObject({ orders: [], mails: [], suppressed: [{ kind: "erased" }] });
    await createOrderEmails(harness(), account, { order_id: "Z2", email });
    const decisionOf = async () => (await service.emails.explain({ order_id: "Z2" })).decisions[0];
    expect(await decisionOf()).toMatchObject({ decided_by: "unsubscribed" });
    expect((await decisionOf())?.sentence).toContain("was erased");
    expect(await service.emailSuppressions.lift({ email })).toMatchObject({ lifted: ["erased"] });
    expect(await decisionOf()).not.toMatchObject({ decided_by: "unsubscribed" });
    // The database is shared with other tests.
    await service.customers.erase({ email });
  });

  it("gives up webhook deliveries that have not been made", async () => {
    const { service } = await openShop(harness());
    await service.customers.erase({ email });
    const { deliveries } = await service.webhookDeliveries.list({ count: 100 });
    const [erased, kept] = [
      deliveries.filter(({ state }) => state === "failed"),
      deliveries.filter(({ state }) => state === "queued"),
    ];
    expect(erased.length).toBe(kept.length);
    const { delivery } = await service.webhookDeliveries.get({ delivery_id: erased[0]?.id ?? 0 });
    expect(JSON.parse(delivery.body)).toEqual({ event: "review_updated", data: { erased: true } });
  });

  it("records erasures, erases what was added since, and refuses the owner of the account", async () => {
    const { service } = await openShop(harness());
    const first = await service.customers.erase({ email });
    await service.orders.massCreate(bulkOrders([anOrder({ email, order_id: "Z3" })]));
    await service.reviews.create(aReview({ email, display_name: zeb.name }));
    const second = await service.customers.erase({ email, reviews: "delete" });
    expect(second.erasure.counts).toMatchObject({ orders: 1, reviews: 1 });
    expect(await findWords(harness(), wordsOf(zeb))).toEqual([]);
    const { erasures } = await service.customers.erasures({});
    expect(erasures).toEqual([second.erasure, first.erasure]);
    const { erasures: from } = await service.customers.erasures({ since_id: first.erasure.id, count: 1 });
    expect(from).toEqual([first.erasure]);
    const owner = await harness()
      .database.db.selectFrom("users")
      .select("email")
      .where("kind", "=", "owner")
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
    await expect(service.customers.erase({ email: owner.email })).rejects.toMatchObject({ kind: "invalidParams" });
  });
});
