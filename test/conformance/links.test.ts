import { expect, it } from "vitest";
import { describeIsolated, type Harness, startMs, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aReview } from "../support/builders.ts";
import { aQuestion, lastToken, readMailCounts, readMails, switchOff } from "../support/mails.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const gone = (kind: string) => ({ link: { kind, state: "gone", about: "", detail: "" } });

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

/** Follows the link of a new review's mail, and tells what its author is then. */
async function verify(harness: Harness, account: TestAccount, fields = {}): Promise<string> {
  await review(account, fields);
  await account.service.links.follow({ token: await lastToken(harness, "verify_url") });
  return (await readReview(harness)).reviewer_type;
}

describeIsolated("links", (harness) => {
  const open = () => harness().service({});

  it("confirms a question once, however often the link is followed", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    const token = await lastToken(harness(), "confirm_url");
    const link = { kind: "confirm_question", about: "Teapot", detail: "Does it pour well?" };
    expect(await open().links.show({ token })).toEqual({ link: { ...link, state: "ready" } });
    expect(await open().links.show({ token })).toEqual({ link: { ...link, state: "ready" } });
    for (const _ of [1, 2, 3]) {
      expect(await open().links.follow({ token })).toEqual({ link: { ...link, state: "done" } });
      expect(await open().links.show({ token })).toEqual({ link: { ...link, state: "done" } });
    }
    expect(await service.questions.bottomLine({ sku: "teapot" })).toMatchObject({ total_questions: 1 });
    const counts = await readMailCounts(harness(), "question_confirmation");
    expect(counts).toEqual({ requests: 1, clicks: 1, unique_clicks: 1 });
  });

  it("confirms only the question that the link is of", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion({ review_content: "One?" }));
    const token = await lastToken(harness(), "confirm_url");
    await service.questions.sendConfirmation(aQuestion({ review_content: "Two?" }));
    await open().links.follow({ token });
    const { questions } = await service.questions.list({ sku: "teapot" });
    expect(questions.map(({ content }) => content)).toEqual(["One?"]);
  });

  it("still confirms where the store has switched questions off since", async () => {
    const { service, caller } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    await switchOff(harness(), caller.appKey, "questions_and_answers");
    const token = await lastToken(harness(), "confirm_url");
    expect(await open().links.follow({ token })).toMatchObject({ link: { state: "done" } });
  });

  it("tells of a link that is too old, or about what is not there, that it is gone", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    const token = await lastToken(harness(), "confirm_url");
    harness().clock.advance(30 * dayMs - 1);
    expect(await open().links.show({ token })).toMatchObject({ link: { state: "ready" } });
    harness().clock.advance(1);
    expect(await open().links.show({ token })).toEqual(gone("confirm_question"));
    expect(await open().links.follow({ token })).toEqual(gone("confirm_question"));
    expect(await service.questions.bottomLine({ sku: "teapot" })).toMatchObject({ total_questions: 0 });
    const unsubscribe = await lastToken(harness(), "unsubscribe_url");
    harness().clock.advance(335 * dayMs - 1);
    expect(await open().links.show({ token: unsubscribe })).toMatchObject({ link: { state: "ready" } });
    await harness().database.db.deleteFrom("mails").execute();
    expect(await open().links.follow({ token: unsubscribe })).toEqual(gone("unsubscribe"));
  });

  it("takes a link that the service did not make for gone, and nothing is done", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await service.questions.sendConfirmation(aQuestion());
    const token = await lastToken(harness(), "confirm_url");
    const { image_upload_token } = await service.reviews.create(aReview());
    const middle = Math.floor(token.length / 2);
    const changed = token.slice(0, middle) + (token[middle] === "A" ? "B" : "A") + token.slice(middle + 1);
    for (const wrong of [
      "x",
      "v1.00000000.AAAA",
      changed,
      token.slice(0, -4),
      `${token}AAAA`,
      image_upload_token,
      "…",
      "a/b",
    ]) {
      for (const call of [open().links.show, open().links.follow]) {
        const { link } = await call({ token: wrong });
        expect(link, wrong).toMatchObject({ state: "gone", about: "" });
      }
    }
    await expect(open().links.show({ token: "x".repeat(2_049) })).rejects.toMatchObject({
      kind: "invalidParams",
    });
    expect(await service.questions.bottomLine({ sku: "teapot" })).toMatchObject({ total_questions: 0 });
  });

  it("unsubscribes the address from mails of the type, for good", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion({ email: "Ann@Mail.example" }));
    const token = await lastToken(harness(), "unsubscribe_url");
    const link = { kind: "unsubscribe", about: "Ann@Mail.example", detail: "question confirmation" };
    expect(await open().links.show({ token })).toEqual({ link: { ...link, state: "ready" } });
    for (const _ of [1, 2]) {
      expect(await open().links.follow({ token })).toEqual({ link: { ...link, state: "done" } });
    }
    expect(await open().links.show({ token })).toEqual({ link: { ...link, state: "done" } });
    expect((await service.unsubscribers.list({})).unsubscribers).toEqual([
      {
        id: expect.any(Number),
        user_email: "Ann@Mail.example",
        email_type_id: 8,
        unsubscirbed_by_name: "USER",
      },
    ]);
    expect(await readMailCounts(harness(), "question_confirmation")).toEqual({
      requests: 1,
      unsubscribes: 1,
    });
    const back = await service.unsubscribers.massDelete({ email_list: { 8: ["ann@mail.example"] } });
    expect(back.errors).toEqual([{ value: "Ann@Mail.example", error: "unsubscribed by the user" }]);
    await service.questions.sendConfirmation(
      aQuestion({ email: "ann@mail.example", review_content: "Two?" }),
    );
    const states = (await readMails(harness())).map(({ state }) => state);
    expect(states).toEqual(["queued", "not_sent"]);
    expect(await readMailCounts(harness(), "question_confirmation")).toEqual({
      requests: 1,
      unsubscribes: 1,
      repeat_unsubscribes: 1,
    });
  });

  it("makes an unsubscription by the store one by the person", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    await service.unsubscribers.massCreate({
      email_list: { 8: ["ann@mail.example"], 1: ["ann@mail.example"] },
    });
    const token = await lastToken(harness(), "unsubscribe_url");
    expect(await open().links.show({ token })).toMatchObject({ link: { state: "ready" } });
    await open().links.follow({ token });
    const { unsubscribers } = await service.unsubscribers.list({});
    expect(unsubscribers.map((row) => [row.email_type_id, row.unsubscirbed_by_name])).toEqual(
      expect.arrayContaining([
        [8, "USER"],
        [1, "MODERATOR"],
      ]),
    );
    expect(unsubscribers).toHaveLength(2);
  });

  it("makes the author of a review a buyer where they bought that product, else a reviewer", async () => {
    const [account, other] = [await harness().newAccount(), await harness().newAccount()];
    const order = anOrder({
      email: "Buyer@Mail.example",
      products: { teapot: anOrderedProduct(), cup: anOrderedProduct() },
    });
    await account.service.orders.massCreate({ platform: "general", orders: [order] } as never);
    const by = (email: string, fields = {}) => ({ email, ...fields });
    expect(await verify(harness(), account, by("buyer@mail.EXAMPLE"))).toBe("verified_buyer");
    expect(await verify(harness(), account, by("somebody@mail.example"))).toBe("verified_reviewer");
    expect(await verify(harness(), account, by("buyer@mail.example", { sku: "pan" }))).toBe(
      "verified_reviewer",
    );
    expect(await verify(harness(), other, by("buyer@mail.example"))).toBe("verified_reviewer");
    const site = { sku: "service_site_reviews" };
    expect(await verify(harness(), account, by("buyer@mail.example", site))).toBe("verified_buyer");
    expect(await verify(harness(), account, by("somebody@mail.example", site))).toBe("verified_reviewer");
  });

  it("finds a buyer whose address is in letters beyond ASCII", async () => {
    const account = await harness().newAccount();
    const order = anOrder({ email: "Ünal@Mail.example", products: { teapot: anOrderedProduct() } });
    await account.service.orders.massCreate({ platform: "general", orders: [order] } as never);
    expect(await verify(harness(), account, { email: "Ünal@mail.example" })).toBe("verified_buyer");
  });

  it("verifies a review once: it is changed, noted and told at once, and never again", async () => {
    const account = await harness().newAccount("Tea Shop");
    const { service } = account;
    for (const event_name of ["review_create", "review_updated"] as const) {
      await service.webhooks.create({ url: "https://shop.example/hook", event_name });
    }
    await review(account);
    const token = await lastToken(harness(), "verify_url");
    const link = { kind: "verify_review", about: "Teapot", detail: "Pours well" };
    expect(await open().links.show({ token })).toEqual({ link: { ...link, state: "ready" } });
    for (const _ of [1, 2]) {
      harness().clock.advance(1_000);
      expect(await open().links.follow({ token })).toEqual({ link: { ...link, state: "done" } });
    }
    const { id, ...stored } = await readReview(harness());
    expect(stored).toEqual({ reviewer_type: "verified_reviewer", updated_at: startMs + 1_000 });
    const { events } = await service.reviews.history({ review_id: id });
    expect(events.map(({ event, by }) => [event, by])).toEqual([
      ["created", "USER"],
      ["verified", "USER"],
    ]);
    const told = await harness()
      .database.db.selectFrom("webhook_deliveries")
      .select(["event_name", "event_id", "body", "state", "due_at"])
      .orderBy("id")
      .execute();
    expect(told.map(({ event_name }) => event_name)).toEqual(["review_create", "review_updated"]);
    expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(2);
    expect(told[1]).toMatchObject({ state: "queued", due_at: startMs + 1_000 });
    expect(JSON.parse(told[1]?.body ?? "")).toMatchObject({
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
    expect(await readMailCounts(harness(), "anonymous_testimonials_request")).toEqual({
      requests: 1,
      clicks: 1,
      unique_clicks: 1,
    });
  });

  it("names the store where the review is of the store itself", async () => {
    const account = await harness().newAccount("Tea Shop");
    await review(account, { sku: "service_site_reviews" });
    const token = await lastToken(harness(), "verify_url");
    expect(await open().links.show({ token })).toMatchObject({ link: { about: "Tea Shop" } });
    await harness().database.db.deleteFrom("users").where("kind", "=", "owner").execute();
    expect(await open().links.show({ token })).toMatchObject({ link: { about: "the store" } });
  });
});
