import { expect, it } from "vitest";
import { emailTypes } from "../../src/contract/index.ts";
import { describeIsolated, type Harness, startMs, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aReview } from "../support/builders.ts";
import { sendDueEmails } from "../support/due-emails.ts";
import { aQuestion, lastToken, readEmailCounts, readEmails, disableFeature } from "../support/emails.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const goneLink = (kind: string) => ({ link: { kind, state: "gone", about: "", detail: "" } });

async function review({ service }: TestAccount, fields = {}): Promise<void> {
  await service.reviews.create(aReview(fields));
}

async function readReview({ database }: Harness) {
  return database.db
    .selectFrom("reviews")
    .select(["id", "reviewer_type", "updated_at"])
    .orderBy("id", "desc")
    .executeTakeFirstOrThrow();
}

/** Creates a review, follows the link in its email, and returns the author's reviewer type. */
async function verify(harness: Harness, account: TestAccount, fields = {}): Promise<string> {
  await review(account, fields);
  await account.service.links.follow({ token: await lastToken(harness, "verify_url") });
  return (await readReview(harness)).reviewer_type;
}

describeIsolated("links", (harness) => {
  const anonymous = () => harness().service({});

  it("confirms a question once, however often the link is followed", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    const token = await lastToken(harness(), "confirm_url");
    const link = { kind: "confirm_question", about: "Teapot", detail: "Does it pour well?" };
    expect(await anonymous().links.show({ token })).toEqual({ link: { ...link, state: "ready" } });
    expect(await anonymous().links.show({ token })).toEqual({ link: { ...link, state: "ready" } });
    for (const _ of [1, 2, 3]) {
      expect(await anonymous().links.follow({ token })).toEqual({ link: { ...link, state: "done" } });
      expect(await anonymous().links.show({ token })).toEqual({ link: { ...link, state: "done" } });
    }
    expect(await service.questions.bottomLine({ sku: "teapot" })).toMatchObject({ total_questions: 1 });
    const counts = await readEmailCounts(harness(), "question_confirmation");
    expect(counts).toEqual({ requests: 1, clicks: 1, unique_clicks: 1 });
  });

  it("confirms only the question that the link belongs to", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion({ review_content: "One?" }));
    const token = await lastToken(harness(), "confirm_url");
    await service.questions.sendConfirmation(aQuestion({ review_content: "Two?" }));
    await anonymous().links.follow({ token });
    const { questions } = await service.questions.list({ sku: "teapot" });
    expect(questions.map(({ content }) => content)).toEqual(["One?"]);
  });

  it("confirms a question even if the store has since disabled questions", async () => {
    const { service, caller } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    await disableFeature(harness(), caller.appKey, "questions_and_answers");
    const token = await lastToken(harness(), "confirm_url");
    expect(await anonymous().links.follow({ token })).toMatchObject({ link: { state: "done" } });
  });

  it("reports an expired link, or one to a deleted record, as gone", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    const token = await lastToken(harness(), "confirm_url");
    harness().clock.advance(30 * dayMs - 1);
    expect(await anonymous().links.show({ token })).toMatchObject({ link: { state: "ready" } });
    harness().clock.advance(1);
    expect(await anonymous().links.show({ token })).toEqual(goneLink("confirm_question"));
    expect(await anonymous().links.follow({ token })).toEqual(goneLink("confirm_question"));
    expect(await service.questions.bottomLine({ sku: "teapot" })).toMatchObject({ total_questions: 0 });
    const unsubscribe = await lastToken(harness(), "unsubscribe_url");
    harness().clock.advance(335 * dayMs - 1);
    expect(await anonymous().links.show({ token: unsubscribe })).toMatchObject({ link: { state: "ready" } });
    await harness().database.db.deleteFrom("mails").execute();
    expect(await anonymous().links.follow({ token: unsubscribe })).toEqual(goneLink("unsubscribe"));
  });

  it("reports an invalid link as gone, and changes nothing", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await service.questions.sendConfirmation(aQuestion());
    const token = await lastToken(harness(), "confirm_url");
    const { image_upload_token } = await service.reviews.create(aReview());
    const middle = Math.floor(token.length / 2);
    const tampered = token.slice(0, middle) + (token[middle] === "A" ? "B" : "A") + token.slice(middle + 1);
    for (const invalidToken of [
      "x",
      "v1.00000000.AAAA",
      tampered,
      token.slice(0, -4),
      `${token}AAAA`,
      image_upload_token,
      "…",
      "a/b",
    ]) {
      for (const call of [anonymous().links.show, anonymous().links.follow]) {
        const { link } = await call({ token: invalidToken });
        expect(link, invalidToken).toMatchObject({ state: "gone", about: "" });
      }
    }
    await expect(anonymous().links.show({ token: "x".repeat(2_049) })).rejects.toMatchObject({ kind: "invalidParams" });
    expect(await service.questions.bottomLine({ sku: "teapot" })).toMatchObject({ total_questions: 0 });
  });

  it("unsubscribes the address from emails of the type, until the store subscribes it again", async () => {
    const { service } = await harness().newAccount();
    await service.emails.sendTest({ email: "Ann@Mail.example" });
    const token = await lastToken(harness(), "unsubscribe_url");
    const link = { kind: "unsubscribe", about: "Ann@Mail.example", detail: emailTypes[1] };
    expect(await anonymous().links.show({ token })).toEqual({ link: { ...link, state: "ready" } });
    for (const _ of [1, 2]) {
      expect(await anonymous().links.follow({ token })).toEqual({ link: { ...link, state: "done" } });
    }
    expect(await anonymous().links.show({ token })).toEqual({ link: { ...link, state: "done" } });
    expect((await service.unsubscribers.list({})).unsubscribers).toEqual([
      { id: expect.any(Number), user_email: "Ann@Mail.example", email_type_id: 1, unsubscirbed_by_name: "USER" },
    ]);
    expect(await readEmailCounts(harness(), "map")).toEqual({ requests: 1, unsubscribes: 1 });
    const resubscribed = await service.unsubscribers.massDelete({ email_list: { 1: ["ann@mail.example"] } });
    expect(resubscribed.unsubscribers).toMatchObject([{ user_email: "Ann@Mail.example" }]);
    const { state } = (await anonymous().links.show({ token })).link;
    expect(state).toBe("ready");
  });

  it.each([
    ["a verification unsubscribe from review requests", "anonymous_testimonials_request", 1],
    ["a confirmation unsubscribe from answers", "question_confirmation", 12],
  ] as const)("of %s, so that the next one still arrives", async (_name, category, type) => {
    const { service } = await harness().newAccount();
    const submit = (content: string) =>
      category === "question_confirmation"
        ? service.questions.sendConfirmation(aQuestion({ review_content: content }))
        : service.reviews.create(aReview({ email: "ann@mail.example", review_content: content }));
    await submit("One?");
    const token = await lastToken(harness(), "unsubscribe_url");
    expect(await anonymous().links.follow({ token })).toMatchObject({
      link: { state: "done", detail: emailTypes[type] },
    });
    await submit("Two?");
    const states = async () =>
      (await readEmails(harness())).filter((email) => email.category === category).map(({ state }) => state);
    expect(await states()).toEqual(["queued", "queued"]);
    await sendDueEmails(harness());
    expect(await states()).toEqual(["sent", "sent"]);
    const email_type_id = category === "question_confirmation" ? 8 : 14;
    await service.unsubscribers.massCreate({ email_list: { [email_type_id]: ["ann@mail.example"] } });
    await submit("Three?");
    expect(await states()).toEqual(["sent", "sent", "not_sent"]);
  });

  it("turns an unsubscription by the store into one by the user", async () => {
    const { service } = await harness().newAccount();
    await service.emails.sendTest({ email: "ann@mail.example" });
    await service.unsubscribers.massCreate({ email_list: { 8: ["ann@mail.example"], 1: ["ann@mail.example"] } });
    const token = await lastToken(harness(), "unsubscribe_url");
    expect(await anonymous().links.show({ token })).toMatchObject({ link: { state: "ready" } });
    await anonymous().links.follow({ token });
    const { unsubscribers } = await service.unsubscribers.list({});
    expect(unsubscribers.map((row) => [row.email_type_id, row.unsubscirbed_by_name])).toEqual(
      expect.arrayContaining([
        [1, "USER"],
        [8, "MODERATOR"],
      ]),
    );
    expect(unsubscribers).toHaveLength(2);
  });

  it("makes the author a verified buyer if they bought the product, and otherwise a verified reviewer", async () => {
    const [account, other] = [await harness().newAccount(), await harness().newAccount()];
    const order = anOrder({
      email: "Buyer@Mail.example",
      products: { teapot: anOrderedProduct(), cup: anOrderedProduct() },
    });
    await account.service.orders.massCreate({ platform: "general", orders: [order] } as never);
    const by = (email: string, fields = {}) => ({ email, ...fields });
    expect(await verify(harness(), account, by("buyer@mail.EXAMPLE"))).toBe("verified_buyer");
    expect(await verify(harness(), account, by("somebody@mail.example"))).toBe("verified_reviewer");
    expect(await verify(harness(), account, by("buyer@mail.example", { sku: "pan" }))).toBe("verified_reviewer");
    expect(await verify(harness(), other, by("buyer@mail.example"))).toBe("verified_reviewer");
    const site = { sku: "service_site_reviews" };
    expect(await verify(harness(), account, by("buyer@mail.example", site))).toBe("verified_buyer");
    expect(await verify(harness(), account, by("somebody@mail.example", site))).toBe("verified_reviewer");
  });

  it("finds a buyer whose address contains non-ASCII letters", async () => {
    const account = await harness().newAccount();
    const order = anOrder({ email: "Ünal@Mail.example", products: { teapot: anOrderedProduct() } });
    await account.service.orders.massCreate({ platform: "general", orders: [order] } as never);
    expect(await verify(harness(), account, { email: "Ünal@mail.example" })).toBe("verified_buyer");
  });

  it("verifies a review once, and records and reports the change once", async () => {
    const account = await harness().newAccount("Tea Shop");
    const { service } = account;
    for (const event_name of ["review_create", "review_updated"] as const) {
      await service.webhooks.create({ url: "https://shop.example/hook", event_name });
    }
    await review(account);
    const token = await lastToken(harness(), "verify_url");
    const link = { kind: "verify_review", about: "Teapot", detail: "Pours well" };
    expect(await anonymous().links.show({ token })).toEqual({ link: { ...link, state: "ready" } });
    for (const _ of [1, 2]) {
      harness().clock.advance(1_000);
      expect(await anonymous().links.follow({ token })).toEqual({ link: { ...link, state: "done" } });
    }
    const { id, ...stored } = await readReview(harness());
    expect(stored).toEqual({ reviewer_type: "verified_reviewer", updated_at: startMs + 1_000 });
    const { events } = await service.reviews.history({ review_id: id });
    expect(events.map(({ event, by }) => [event, by])).toEqual([
      ["created", "USER"],
      ["verified", "USER"],
    ]);
    const deliveries = await harness()
      .database.db.selectFrom("webhook_deliveries")
      .select(["event_name", "event_id", "body", "state", "due_at"])
      .orderBy("id")
      .execute();
    expect(deliveries.map(({ event_name }) => event_name)).toEqual(["review_create", "review_updated"]);
    expect(new Set(deliveries.map(({ event_id }) => event_id)).size).toBe(2);
    expect(deliveries[1]).toMatchObject({ state: "queued", due_at: startMs + 1_000 });
    expect(JSON.parse(deliveries[1]?.body ?? "")).toMatchObject({
      event: "review_updated",
      data: {
        id,
        user_type: "User",
        verified_buyer: false,
        app_key: account.caller.appKey,
        customer_email: "ann@mail.example",
        updated_at: new Date(startMs + 1_000).toISOString(),
      },
    });
    expect(await readEmailCounts(harness(), "anonymous_testimonials_request")).toEqual({
      requests: 1,
      clicks: 1,
      unique_clicks: 1,
    });
  });

  it("names the store if the review is about the store itself", async () => {
    const account = await harness().newAccount("Tea Shop");
    await review(account, { sku: "service_site_reviews" });
    const token = await lastToken(harness(), "verify_url");
    expect(await anonymous().links.show({ token })).toMatchObject({ link: { about: "Tea Shop" } });
    await harness().database.db.deleteFrom("users").where("kind", "=", "owner").execute();
    expect(await anonymous().links.show({ token })).toMatchObject({ link: { about: "the store" } });
  });
});
