import { beforeEach, expect, it } from "vitest";
import {
  emailCategories,
  recordedCategories,
  type RecipientOutcome,
  sentEmailCategories,
  siteReviewsId,
} from "../../src/contract/index.ts";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type Harness } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../support/builders.ts";
import { sendDueEmails } from "../support/due-emails.ts";
import { createLinkTokens, readStoredEmails, type StoredEmail } from "../support/email-links.ts";
import { aQuestion, lastToken, readEmails } from "../support/emails.ts";
import { invalidField } from "../support/service-errors.ts";

const dayMs = 86_400_000;
const owner = "owner@shop.example";

describeIsolated("emails", (harness: () => Harness) => {
  let service: Service;

  beforeEach(async () => {
    ({ service } = await harness().newAccount("Tea Shop"));
    await harness().database.db.updateTable("users").set({ email: owner }).where("kind", "=", "owner").execute();
  });

  const list = async (...categories: string[]) =>
    (await readEmails(harness()))
      .filter(({ category }) => categories.length === 0 || categories.includes(category))
      .map(({ category, email, state }) => `${category} ${email} ${state}`);
  const follow = async (name: string) => service.links.follow({ token: await lastToken(harness(), name) });
  const createVerifiedReview = async () => {
    await service.reviews.create(aReview());
    await follow("verify_url");
    const { reviews } = await service.reviews.list({});
    return reviews[0]?.id ?? 0;
  };
  const createQuestion = async () => {
    await service.questions.sendConfirmation(aQuestion());
    await follow("confirm_url");
    const { questions } = await service.questions.list({ sku: "teapot" });
    return questions[0]?.id ?? 0;
  };

  it("of a review go to its author and to the owner", async () => {
    await service.reviews.create(aReview());
    expect((await list()).toSorted()).toEqual([
      "anonymous_testimonials_request ann@mail.example queued",
      `comment_request ${owner} queued`,
    ]);
    const [request] = await sendDueEmails(harness());
    expect(request).toMatchObject({
      category: "comment_request",
      data: { title: "Pours well", score: 5, comment_url: expect.stringMatching(/\/products\/teapot$/) as string },
    });
  });

  it("of an imported or a synchronously created review do not exist", async () => {
    const { reviews } = await service.reviews.createNow(
      aReview({ past: { created_at: "2026-01-01", published: true, reviewer_type: "verified_buyer" } }),
    );
    await service.reviews.comment({ review_id: reviews[0]?.id ?? 0, content: "Thank you!" });
    await service.reviews.createNow(aReview({ email: "bo@mail.example" }));
    expect(await list()).toEqual([]);
  });

  it("tell the author about the first comment of the store, once", async () => {
    const review_id = await createVerifiedReview();
    for (const content of ["Thank you!", "Thank you!", "Thanks!"])
      await service.reviews.comment({ review_id, content });
    const replaced = "comment_notification ann@mail.example not_sent";
    expect(await list("comment_notification")).toEqual([replaced, "comment_notification ann@mail.example queued"]);
    const emails = await sendDueEmails(harness());
    const notifications = emails.filter(({ category }) => category === "comment_notification");
    expect(notifications.map(({ data }) => data)).toMatchObject([{ comment: "Thanks!", title: "Pours well" }]);
    await service.reviews.comment({ review_id, content: "Thanks again!" });
    expect(await list("comment_notification")).toEqual([replaced, "comment_notification ann@mail.example sent"]);
  });

  it("tell no unverified or hidden author about a comment", async () => {
    await service.reviews.create(aReview());
    const { reviews } = await service.reviews.list({});
    await service.reviews.comment({ review_id: reviews[0]?.id ?? 0, content: "Thank you!" });
    const review_id = await createVerifiedReview();
    await service.reviews.setPublished({ review_id, published: false, reason: "spam" });
    await service.reviews.comment({ review_id, content: "No." });
    expect(await list("comment_notification")).toEqual([]);
  });

  it("of a question go to the owner when it is confirmed, and of answers to the asker and the owner", async () => {
    const categories = ["answer_request_shop_owner", "answer_notification_shoppers", "answer_notification_shop_owner"];
    await service.questions.sendConfirmation(aQuestion());
    expect(await list(...categories)).toEqual([]);
    await follow("confirm_url");
    const { questions } = await service.questions.list({ sku: "teapot" });
    const question_id = questions[0]?.id ?? 0;
    const request = `answer_request_shop_owner ${owner} queued`;
    expect(await list(...categories)).toEqual([request]);
    await service.answers.create({ question_id, content: "Yes." });
    const byStore = "answer_notification_shoppers ann@mail.example queued";
    expect(await list(...categories)).toEqual([request, byStore]);
    await service.answers.create({ question_id, content: "Mine does.", display_name: "Bo", email: "bo@mail.example" });
    const toOwner = `answer_notification_shop_owner ${owner} queued`;
    expect(await list(...categories)).toEqual([request, byStore, byStore, toOwner]);
    await service.answers.create({ question_id, content: "I know.", display_name: "Ann", email: "ANN@mail.example" });
    expect(await list(...categories)).toEqual([request, byStore, byStore, toOwner, toOwner]);
    const emails = await sendDueEmails(harness());
    expect(emails.find(({ category }) => category === "answer_notification_shoppers")?.data).toMatchObject({
      content: "Does it pour well?",
      answer: "Yes.",
    });
  });

  it("to an unsubscribed or suppressed recipient are not sent", async () => {
    await service.unsubscribers.massCreate({ email_list: { 4: [owner], 12: ["ann@mail.example"] } });
    await service.reviews.create(aReview());
    await service.answers.create({ question_id: await createQuestion(), content: "Yes." });
    expect(await list("comment_request", "answer_notification_shoppers")).toEqual([
      `comment_request ${owner} not_sent`,
      "answer_notification_shoppers ann@mail.example not_sent",
    ]);
  });

  it("to the owner are not sent if the account has none", async () => {
    await harness().database.db.deleteFrom("users").where("kind", "=", "owner").execute();
    await service.reviews.create(aReview());
    expect(await list()).toEqual(["anonymous_testimonials_request ann@mail.example queued"]);
  });

  it("have templates for the categories that are sent, and for no others", async () => {
    const { templates } = await service.emailTemplates.list({});
    expect(templates.map(({ category }) => category)).toEqual([...sentEmailCategories]);
    const other = emailCategories.filter((category) => !templates.some((template) => template.category === category));
    expect(other).toEqual(
      recordedCategories.filter((category) => !(sentEmailCategories as readonly string[]).includes(category)),
    );
    for (const category of other) {
      await expect(service.emailTemplates.get({ category } as never)).rejects.toMatchObject(
        invalidField("category", "map"),
      );
    }
  });
});

describeIsolated("reminders", (harness: () => Harness) => {
  let service: Service;

  beforeEach(async () => {
    ({ service } = await harness().newAccount());
    await service.emailRules.set({ name: "send_reminders", value: true });
  });

  const products = { teapot: anOrderedProduct(), cup: anOrderedProduct({ name: "Cup" }) };
  const order = (fields = {}) =>
    service.orders.massCreate(bulkOrders([anOrder({ order_date: "2026-03-01", products, ...fields })]));
  const list = async () =>
    (await service.emails.list({ category: "reminder" })).mails.map(({ state, reason }) => [state, reason]);

  it("are sent once, a week after the review request, about the products without a review", async () => {
    await order();
    await sendDueEmails(harness());
    expect((await service.emails.list({ category: "reminder" })).mails).toMatchObject([
      { state: "queued", order_id: "1001", email: "ann@mail.example", due_at: "2026-03-22T12:00:00.000Z" },
    ]);
    await order();
    await service.reviews.create(aReview({ sku: "cup" }));
    await service.links.follow({ token: await lastToken(harness(), "verify_url") });
    await service.emailRules.set({ name: "reviewed_lately", value: false });
    harness().clock.advance(7 * dayMs);
    const sent = (await sendDueEmails(harness())).filter(({ category }) => category === "reminder");
    expect(sent).toHaveLength(1);
    expect(sent[0]?.data).toMatchObject({ order_id: "1001", products: [{ product_id: "teapot" }] });
    harness().clock.advance(6 * dayMs);
    expect(await sendDueEmails(harness())).toEqual([]);
    expect(await list()).toEqual([["sent", null]]);
  });

  it("are sent under the new name of the customer, but not later, if the order changes", async () => {
    await order();
    await sendDueEmails(harness());
    await order({ customer_name: "Bea", order_date: "2026-03-03" });
    expect((await service.emails.list({ category: "reminder" })).mails).toMatchObject([
      { name: "Bea", due_at: "2026-03-22T12:00:00.000Z" },
    ]);
  });

  it.each([
    ["every product was reviewed", "reviewed_lately", () => service.reviews.create(aReview({ sku: "teapot" }))],
    [
      "the customer unsubscribed",
      "unsubscribed",
      () => service.unsubscribers.massCreate({ email_list: { 1: ["ann@mail.example"] } }),
    ],
    [
      "the emails of the order were canceled",
      "mails_stopped",
      () => service.orders.cancelEmails({ orders: [{ order_id: "1001" }] }),
    ],
    [
      "reminders were turned off",
      "requests_off",
      () => service.emailRules.set({ name: "send_reminders", value: false }),
    ],
  ])("are not sent if %s", async (_name, rule, act) => {
    await order({ products: { teapot: anOrderedProduct() } });
    await sendDueEmails(harness());
    await act();
    if (rule === "reviewed_lately") await service.links.follow({ token: await lastToken(harness(), "verify_url") });
    harness().clock.advance(7 * dayMs);
    await sendDueEmails(harness());
    expect(await list()).toEqual([["not_sent", rule]]);
  });

  it("are not queued by default, for test emails, or for orders without emails", async () => {
    await service.emails.sendTest({ email: "me@shop.example" });
    await service.orders.massCreate({ ...bulkOrders([anOrder({ order_id: "2" })]), send_mail: false });
    await sendDueEmails(harness());
    await service.emailRules.set({ name: "send_reminders", value: null });
    await order();
    await sendDueEmails(harness());
    expect(await list()).toEqual([]);
  });
});

describeIsolated("requests to review the store", (harness: () => Harness) => {
  let service: Service;

  beforeEach(async () => {
    ({ service } = await harness().newAccount("Tea Shop"));
    await service.emailRules.set({ name: "send_site_requests", value: true });
    await service.emailRules.set({ name: "one_mail_per", value: "product" });
  });

  const order = (fields = {}, options = {}) =>
    service.orders.massCreate({ ...bulkOrders([anOrder({ order_date: "2026-02-20", ...fields })]), ...options });
  const sendRequests = async () =>
    (await sendDueEmails(harness())).filter(({ category }) => category === "mail_after_invoice");
  const form = { score: "4", title: "Fast", content: "It came the next day.", display_name: "Ann Tea" };
  /** Sends the request of an order, and returns the token of its form. */
  const request = async () => {
    await order();
    const [email] = await sendRequests();
    expect(email?.data["products"]).toMatchObject([{ product_id: siteReviewsId, name: "Tea Shop" }]);
    const stored = (await readStoredEmails(harness())).find(({ mailId }) => mailId === email?.id);
    return createLinkTokens(harness(), stored as StoredEmail).review(0);
  };

  it("are sent once per order, three weeks after the order date, and not for imported orders", async () => {
    await order({ order_id: "2" }, { send_mail: false });
    await order();
    await order({ order_date: "2026-03-02" });
    expect((await service.emails.list({ category: "mail_after_invoice" })).mails).toMatchObject([
      { order_id: "1001", due_at: "2026-03-23T00:00:00.000Z" },
    ]);
  });

  it("lead to a review of the store by a verified buyer", async () => {
    const token = await request();
    expect((await service.reviewRequests.show({ token })).request).toMatchObject({
      state: "ready",
      is_site: true,
      is_test: false,
      product: { name: "Tea Shop" },
    });
    expect((await service.reviewRequests.write({ token, ...form })).request.state).toBe("done");
    expect((await service.reviewRequests.write({ token, ...form })).request.state).toBe("done");
    const { reviews } = await service.reviews.search({ product_id: siteReviewsId });
    expect(reviews).toMatchObject([{ sku: siteReviewsId, title: "Fast", reviewer_type: "verified_buyer" }]);
  });

  it("are not sent to customers who reviewed it, for canceled orders, or after the store turned them off", async () => {
    const token = await request();
    await service.reviewRequests.write({ token, ...form });
    await order({ order_id: "2" });
    await order({ order_id: "3", email: "bo@mail.example" });
    await order({ order_id: "4", email: "cy@mail.example" });
    await service.orders.cancelEmails({ orders: [{ order_id: "3" }] });
    expect(await sendRequests()).toMatchObject([{ to: { address: "cy@mail.example" } }]);
    await order({ order_id: "5", email: "di@mail.example" });
    await service.emailRules.set({ name: "send_site_requests", value: false });
    expect(await sendRequests()).toEqual([]);
    expect(
      (await service.emails.list({ category: "mail_after_invoice" })).mails.map(({ reason }) => reason).toReversed(),
    ).toEqual([null, "reviewed_lately", "mails_stopped", null, "requests_off"]);
  });
});

describeIsolated("requests after a solved case", (harness: () => Harness) => {
  let service: Service;

  beforeEach(async () => {
    ({ service } = await harness().newAccount("Tea Shop"));
  });

  const send = async (...recipients: object[]) => {
    const input = { category: "mail_after_service", recipients } as never;
    const preview = await service.emails.previewSend(input);
    const sent = await service.emails.send(input);
    const decide = ({ is_repeated, rule }: RecipientOutcome) => (is_repeated ? "repeated" : (rule ?? "sent"));
    expect(preview.recipients.map(decide)).toEqual(sent.recipients.map(decide));
    return sent.recipients.map(decide);
  };
  const ann = "ann@mail.example";

  it("are sent once per address and reference, or date, and follow the rules", async () => {
    expect(await send({ email: ann, reference: "1" }, { email: "ANN@mail.example", reference: "1" })).toEqual([
      "sent",
      "repeated",
    ]);
    expect(await send({ email: ann, reference: "1" }, { email: ann, reference: "2" })).toEqual(["repeated", "sent"]);
    expect(await send({ email: ann, date: "2026-03-01" })).toEqual(["sent"]);
    expect(await send({ email: ann, date: "2026-03-01" }, { email: ann, date: "2025-03-01" })).toEqual([
      "repeated",
      "order_too_old",
    ]);
    expect(await send({ email: "nobody@localhost" }, { email: "not an address" })).toEqual([
      "bad_address",
      "bad_address",
    ]);
    await service.emailRules.set({ name: "most_mails_to_person", value: 3 });
    expect(await send({ email: ann })).toEqual(["sent"]);
    expect(await sendDueEmails(harness())).toHaveLength(3);
    expect(await send({ email: ann })).toEqual(["too_many_to_person"]);
  });

  it.each([
    ["buyer", "verified_buyer"],
    ["stranger", "verified_reviewer"],
  ])("lead to a review by a %s", async (who, reviewer_type) => {
    const email = `${who}@mail.example`;
    await service.orders.massCreate(bulkOrders([anOrder({ email: "buyer@mail.example" })]));
    await send({ email, name: "Ann Tea" });
    const emails = await sendDueEmails(harness());
    const sent = emails.find(({ category }) => category === "mail_after_service");
    const stored = (await readStoredEmails(harness())).find(({ mailId }) => mailId === sent?.id);
    const token = createLinkTokens(harness(), stored as StoredEmail).review(0);
    const form = { score: "5", title: "Kind", content: "They helped.", display_name: "Ann Tea" };
    expect((await service.reviewRequests.show({ token })).request).toMatchObject({ state: "ready", is_test: false });
    expect((await service.reviewRequests.write({ token, ...form })).request.state).toBe("done");
    expect((await service.reviewRequests.write({ token, ...form })).request.state).toBe("done");
    const { reviews } = await service.reviews.search({ product_id: siteReviewsId });
    expect(reviews).toMatchObject([{ title: "Kind", reviewer_type }]);
    expect(await send({ email })).toEqual(["reviewed_lately"]);
  });
});

describeIsolated("requests to answer a question", (harness: () => Harness) => {
  let service: Service;

  beforeEach(async () => {
    ({ service } = await harness().newAccount("Tea Shop"));
    await service.emailRules.set({ name: "ask_shoppers", value: true });
  });

  const order = (order_id: string, who: string, options = {}) => {
    const products = { teapot: anOrderedProduct({ name: "Teapot" }) };
    const orders = [anOrder({ order_id, email: `${who}@mail.example`, customer_name: `${who} Tea`, products })];
    return service.orders.massCreate({ ...bulkOrders(orders), ...options });
  };
  const ask = async () => {
    await service.questions.sendConfirmation(aQuestion());
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    const { questions } = await service.questions.list({ sku: "teapot" });
    return questions[0]?.id ?? 0;
  };
  const list = async () => {
    const { mails } = await service.emails.list({ category: "answer_request_shoppers", sort: "oldest" });
    return mails.map(({ email, state, reason }) => [email.split("@")[0], reason ?? state]);
  };

  it("go to up to five recent buyers, not to the asker, nor to customers of imported orders", async () => {
    for (const [at, who] of ["a", "b", "c", "d", "e", "ann", "e", "f"].entries()) await order(String(at), who);
    await order("past", "g", { send_mail: false });
    await service.unsubscribers.massCreate({ email_list: { 10: ["d@mail.example"] } });
    await ask();
    expect(await list()).toEqual([
      ["f", "queued"],
      ["e", "queued"],
      ["d", "unsubscribed"],
      ["c", "queued"],
      ["b", "queued"],
    ]);
  });

  it("are not sent by default, after the store turned them off, or after the question was hidden", async () => {
    await order("1", "bo");
    const question_id = await ask();
    await service.emailRules.set({ name: "ask_shoppers", value: null });
    await sendDueEmails(harness());
    expect(await list()).toEqual([["bo", "requests_off"]]);
    await service.emailRules.set({ name: "ask_shoppers", value: true });
    await service.questions.setPublished({ question_id, published: false, reason: "off topic" });
    await service.questions.sendConfirmation(aQuestion({ review_content: "Is it heavy?" }));
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    const { questions } = await service.questions.list({ sku: "teapot" });
    await service.questions.delete({ question_id: questions[0]?.id ?? 0, reason: "spam" });
    await sendDueEmails(harness());
    expect(await list()).toEqual([
      ["bo", "requests_off"],
      ["bo", "stopped_by_hand"],
    ]);
  });

  it("lead to one public answer, about which the asker is notified", async () => {
    await order("1", "bo");
    const question_id = await ask();
    const stored = (await service.emails.list({ category: "answer_request_shoppers" })).mails[0];
    const email = (await readStoredEmails(harness())).find(({ mailId }) => mailId === stored?.id);
    const token = createLinkTokens(harness(), email as StoredEmail).answer(question_id);
    expect((await service.answerRequests.show({ token })).request).toMatchObject({
      state: "ready",
      question: "Does it pour well?",
      product: { name: "Teapot" },
      fields: { display_name: "bo Tea" },
    });
    expect((await service.answerRequests.write({ token, content: " " })).request).toMatchObject({
      state: "ready",
      problems: [{ field: "content" }, { field: "display_name" }],
    });
    const answer = { token, content: "Yes.\r\nVery well.", display_name: "Bo Tea" };
    for (let time = 0; time < 2; time++) {
      expect((await service.answerRequests.write(answer)).request).toMatchObject({
        state: "done",
        answer: { content: "Yes.\nVery well.", display_name: "Bo T." },
      });
    }
    const { questions } = await service.questions.list({ sku: "teapot" });
    expect(questions[0]?.sorted_public_answers).toMatchObject([
      { content: "Yes.\nVery well.", store_owner_comment: false },
    ]);
    expect((await service.emails.list({ category: "answer_notification_shoppers" })).mails).toHaveLength(1);
    await service.questions.setPublished({ question_id, published: false, reason: "off topic" });
    expect((await service.answerRequests.show({ token })).request.state).toBe("gone");
  });
});
