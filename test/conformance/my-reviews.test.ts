import { expect, it } from "vitest";
import { emailKeyOf, imageLimits, type MyReviewsPage } from "../../src/contract/index.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import { openClaim } from "../../src/engine/kernel/signed-link.ts";
import {
  describeBackends,
  describeEngine,
  describeIsolated,
  type Harness,
  type TestAccount,
} from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { addCustomer, bob, zeb } from "../support/customers.ts";
import { readAccountId, sendDueEmails } from "../support/due-emails.ts";
import { createLinkTokens } from "../support/email-links.ts";
import { aQuestion, lastToken, readEmailCounts, readEmails } from "../support/emails.ts";
import { tinyPng } from "../support/photos.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const anyPhotosUrl = expect.stringMatching(/\/starpost\/v1\/p\//) as string;
const text = { score: "2", title: "Drips", content: "It drips.\r\nSorry." };

/** Creates the token of a link for a person, and the calls behind it. */
async function openLink(harness: Harness, account: TestAccount, email = "ann@mail.example") {
  const accountId = await readAccountId(harness, account);
  const token = createLinkTokens(harness, { mailId: 1, accountId, productRow: 0 }).myReviews(emailKeyOf(email));
  const { myReviews } = harness.service({});
  return {
    token,
    show: async (target = {}) => (await myReviews.show({ token, ...target })).page,
    change: async (target = {}) => (await myReviews.change({ token, ...target })).page,
  };
}

/** Adds a confirmed review with a photo. */
async function addReview(harness: Harness, { service }: TestAccount, fields = {}): Promise<number> {
  const { image_upload_token } = await service.reviews.create(aReview(fields));
  await service.images.upload({ image_upload_token, image: tinyPng });
  await service.links.follow({ token: await lastToken(harness, "verify_url") });
  return (await service.reviews.list({ deleted: true })).reviews[0]?.id ?? 0;
}

async function addQuestion(harness: Harness, { service }: TestAccount, fields = {}): Promise<number> {
  await service.questions.sendConfirmation(aQuestion(fields));
  await service.links.follow({ token: await lastToken(harness, "confirm_url") });
  return (await service.questions.list({ sku: "teapot" })).questions[0]?.id ?? 0;
}

const visit = (harness: Harness, { caller }: TestAccount) => harness.service({ appKey: caller.appKey });

async function readProduct(harness: Harness, account: TestAccount) {
  const { bottomline, reviews } = await visit(harness, account).reviews.widget({ product_id: "teapot" });
  return [bottomline.total_review, bottomline.average_score, reviews.map(({ title }) => title)];
}

async function readHistory({ service }: TestAccount, review_id: number) {
  const { events } = await service.reviews.history({ review_id });
  return events.map(({ event, by, reason, previous_content }) => [event, by, reason, previous_content]);
}

const summarize = ({ state, outcome, reviews, questions }: MyReviewsPage) => ({
  state,
  outcome,
  reviews: reviews.map((review) => [review.id, review.state]),
  questions: questions.map((question) => [question.id, question.state]),
});
const nothing = { state: "list", outcome: null, reviews: [], questions: [] };

describeBackends("what a person has written", (harness) => {
  it("is everything confirmed with the address, and nothing else", async () => {
    const account = await harness().newAccount("Tea Shop");
    const own = await addReview(harness(), account);
    const asked = await addQuestion(harness(), account);
    // Anybody can use the address until it is confirmed.
    await account.service.reviews.create(aReview({ review_title: "Unconfirmed" }));
    await account.service.questions.sendConfirmation(aQuestion({ review_content: "Unconfirmed?" }));
    await addReview(harness(), account, { email: "bob@mail.example" });
    const { show } = await openLink(harness(), account, "Ann@MAIL.example");
    const page = await show();
    expect(page).toMatchObject({ state: "list", store_name: "Tea Shop", outcome: null, problems: [] });
    expect(page.reviews).toEqual([
      {
        id: own,
        product: { name: "Teapot", url: "https://shop.example/teapot" },
        score: 5,
        title: "Pours well",
        content: "It pours very well.",
        state: "public",
        comment: null,
        photos: [
          {
            id: expect.any(Number) as number,
            thumb_url: expect.any(String) as string,
            original_url: expect.any(String) as string,
          },
        ],
        photos_url: anyPhotosUrl,
        created_at: new Date(harness().clock()).toISOString(),
      },
    ]);
    expect(page.questions).toMatchObject([{ id: asked, content: "Does it pour well?", state: "public", answers: 0 }]);
  });

  it("is shown only to the link's person and account, until the link expires", async () => {
    const account = await harness().newAccount();
    const other = await harness().newAccount();
    const own = await addReview(harness(), account);
    const asked = await addQuestion(harness(), account);
    const image = (await (await openLink(harness(), account)).show()).reviews[0]?.photos[0]?.id;
    for (const stranger of [
      await openLink(harness(), account, "bob@mail.example"),
      await openLink(harness(), account, "ann+x@mail.example"),
      await openLink(harness(), other),
    ]) {
      expect(summarize(await stranger.show())).toEqual(nothing);
      for (const target of [{ review: own }, { photo: image }, { question: asked }]) {
        for (const action of ["edit", "delete"] as const) {
          const missing = { ...nothing, outcome: "missing" };
          expect(summarize(await stranger.show({ ...target, action }))).toEqual(missing);
          expect(summarize(await stranger.change({ ...target, action, ...text }))).toEqual(missing);
        }
      }
    }
    const { show, change, token } = await openLink(harness(), account);
    expect(await show()).toMatchObject({ reviews: [{ title: "Pours well" }], questions: [{ id: asked }] });
    harness().clock.advance(90 * dayMs);
    const request_url = expect.stringContaining(`/pages/${account.caller.appKey}/my_reviews`) as string;
    const expired = { state: "gone", reviews: [], questions: [], request_url };
    expect(await show()).toMatchObject(expired);
    expect(await change({ review: own, action: "delete" })).toMatchObject(expired);
    const damaged = harness()
      .service({})
      .myReviews.show({ token: `${token.slice(0, -4)}AAAA` });
    expect(await damaged).toMatchObject({ page: { state: "gone", request_url: null } });
    expect(await readProduct(harness(), account)).toEqual([1, 5, ["Pours well"]]);
  });

  it("changes only on request: opening the pages of a link changes nothing", async () => {
    const account = await harness().newAccount();
    const own = await addReview(harness(), account);
    const { show } = await openLink(harness(), account);
    const before = await show();
    const photo = before.reviews[0]?.photos[0]?.id;
    expect(await show({ review: own })).toMatchObject({
      state: "edit",
      fields: { score: "5", title: "Pours well", content: "It pours very well." },
    });
    expect(await show({ review: own, action: "delete" })).toMatchObject({ state: "delete", photo_id: null });
    expect(await show({ photo })).toMatchObject({ state: "delete", photo_id: photo, reviews: [{ id: own }] });
    // Each time, the token that adds photos is another one.
    const reviews = before.reviews.map((review) => ({ ...review, photos_url: anyPhotosUrl }));
    expect(await show()).toEqual({ ...before, reviews });
  });

  it("can get more photos, until each review has the maximum", async () => {
    const account = await harness().newAccount();
    await addReview(harness(), account);
    const { show } = await openLink(harness(), account);
    const photosUrl = async () => (await show()).reviews[0]?.photos_url;
    for (let photos = 2; photos <= imageLimits.perReview; photos += 1) {
      const image_upload_token = (await photosUrl())?.split("/").at(-1) ?? "";
      const { form } = await harness().service({}).forms.addPhoto({ image_upload_token, image: tinyPng });
      expect([form.photos, form.problem]).toEqual([photos, null]);
    }
    expect((await show()).reviews[0]?.photos).toHaveLength(imageLimits.perReview);
    expect(await photosUrl()).toBeNull();
  });

  it("can be edited, which its history and webhooks report", async () => {
    const account = await harness().newAccount();
    await account.service.webhooks.create({ url: "https://shop.example/hook", event_name: "review_updated" });
    const own = await addReview(harness(), account);
    const { change, show } = await openLink(harness(), account);
    for (const fields of [
      { ...text, content: " " },
      { ...text, score: "6" },
      { ...text, title: "x".repeat(151) },
    ]) {
      const { state, problems } = await change({ review: own, ...fields });
      expect([state, problems.length]).toEqual(["edit", 1]);
    }
    const history = await readHistory(account, own);
    const events = async () => (await account.service.webhookDeliveries.list({})).deliveries.length;
    const before = await events();
    const saved = { ...nothing, outcome: "saved", reviews: [[own, "public"]] };
    for (const _ of [1, 2]) expect(summarize(await change({ review: own, ...text }))).toEqual(saved);
    expect((await show()).reviews).toMatchObject([{ score: 2, title: "Drips", content: "It drips.\nSorry." }]);
    expect(await readProduct(harness(), account)).toEqual([1, 2, ["Drips"]]);
    expect(await readHistory(account, own)).toEqual([
      ...history,
      ["edited", "USER", 'by the author; the title was "Pours well"; the score was 5', "It pours very well."],
    ]);
    expect((await events()) - before).toBe(1);
    const { reviews } = await account.service.reviews.search({ search: "drips" });
    expect(reviews.map(({ id }) => id)).toEqual([own]);
  });

  it("is checked again when it is edited", async () => {
    const account = await harness().newAccount();
    const own = await addReview(harness(), account);
    const { change } = await openLink(harness(), account);
    const edit = async (content: string) => summarize(await change({ review: own, ...text, content }));
    await account.service.reviewRules.add({ action: "hold", words: ["grubby"] });
    const waiting = { ...nothing, outcome: "waiting", reviews: [[own, "waiting"]] };
    expect(await edit("A grubby pot")).toEqual(waiting);
    expect(await readProduct(harness(), account)).toEqual([0, 0, []]);
    expect((await readHistory(account, own)).slice(-2).map((event) => event.slice(0, 2))).toEqual([
      ["edited", "USER"],
      ["held", "RULE 1"],
    ]);
    // The store decides on what is held.
    expect(await edit("A clean pot")).toEqual(waiting);
    await account.service.reviews.setPublished({ review_id: own, published: true, reason: "fine" });
    expect(await readProduct(harness(), account)).toEqual([1, 2, ["Drips"]]);
    expect(await edit("See https://a.example https://b.example https://c.example https://d.example")).toEqual(waiting);
    await account.service.reviews.setPublished({ review_id: own, published: true, reason: "fine" });
    await account.service.account.set({ published_reviews: "moderated" });
    expect(await edit("Another text")).toEqual(waiting);
    expect(await readProduct(harness(), account)).toEqual([0, 0, []]);
    await account.service.reviews.setPublished({ review_id: own, published: false, reason: "no" });
    await account.service.account.set({ published_reviews: "all" });
    expect(await edit("Not hidden?")).toEqual({ ...nothing, outcome: "saved", reviews: [[own, "hidden"]] });
  });

  it("is not overwritten by a later import after its author has edited it", async () => {
    const account = await harness().newAccount();
    const past = { created_at: "2026-01-01T00:00:00Z", reviewer_type: "verified_buyer" as const };
    const { reviews } = await account.service.reviews.createNow({ ...aReview(), past });
    const review_id = reviews[0]?.id ?? 0;
    const { change, show } = await openLink(harness(), account);
    await change({ review: review_id, ...text });
    const again = { review_title: "Pours well", review_content: "Imported", review_score: 5 };
    const updated = await account.service.reviews.update({ review_id, ...again, past: {} });
    expect(updated).toMatchObject({ outcome: "unchanged", dropped: [{}, {}, {}] });
    expect((await show()).reviews).toMatchObject([{ score: 2, title: "Drips" }]);
  });

  it("can be deleted: a photo, a review, and a question", async () => {
    const account = await harness().newAccount();
    await account.service.webhooks.create({ url: "https://shop.example/hook", event_name: "review_hidden" });
    const own = await addReview(harness(), account);
    const asked = await addQuestion(harness(), account);
    await account.service.answers.create({ question_id: asked, content: "Yes" });
    const { change, show } = await openLink(harness(), account);
    const [photo] = (await show()).reviews[0]?.photos ?? [];
    const image_id = photo?.id ?? 0;
    await visit(harness(), account).images.get({ image_id });
    expect(await change({ photo: image_id })).toMatchObject({ outcome: "deleted", reviews: [{ photos: [] }] });
    await expect(visit(harness(), account).images.get({ image_id })).rejects.toMatchObject({ kind: "recordNotFound" });
    expect((await readHistory(account, own)).at(-1)?.slice(0, 2)).toEqual(["photo_deleted", "USER"]);
    expect(await change({ photo: image_id })).toMatchObject({ outcome: "missing" });

    expect(await change({ question: asked, content: "  " })).toMatchObject({
      state: "edit",
      problems: [{ field: "content" }],
    });
    expect(await change({ question: asked, content: "Does it drip?" })).toMatchObject({ outcome: "saved" });
    const { questions } = await account.service.questions.list({ sku: "teapot" });
    expect(questions.map(({ content }) => content)).toEqual(["Does it drip?"]);
    const history = async () => (await account.service.questions.history({ question_id: asked })).events;
    expect((await history()).at(-1)).toMatchObject({
      event: "edited",
      by: "USER",
      previous_content: "Does it pour well?",
    });
    expect(await change({ question: asked, action: "delete" })).toMatchObject({ outcome: "deleted", questions: [] });
    expect((await history()).at(-1)).toMatchObject({ event: "deleted", by: "USER" });
    expect(JSON.stringify(await history())).not.toContain("pour");
    const totals = await account.service.questions.bottomLine({ sku: "teapot" });
    expect(totals).toMatchObject({ total_questions: 0, total_answers: 0 });

    expect(await change({ review: own, action: "delete" })).toMatchObject({ ...nothing, outcome: "deleted" });
    expect(await readProduct(harness(), account)).toEqual([0, 0, []]);
    await expect(account.service.reviews.history({ review_id: own })).rejects.toMatchObject({ kind: "recordNotFound" });
    const { deliveries } = await account.service.webhookDeliveries.list({});
    expect(deliveries.map(({ event_name }) => event_name)).toEqual(["review_hidden"]);
  });

  it("is nothing after an erasure", async () => {
    const account = await harness().newAccount();
    await addCustomer(harness(), account, zeb);
    await addCustomer(harness(), account, bob);
    const { show, change } = await openLink(harness(), account, zeb.email);
    const [review] = (await show()).reviews;
    expect(review).toBeDefined();
    await account.service.customers.erase({ email: zeb.email });
    expect(summarize(await show())).toEqual(nothing);
    expect(summarize(await change({ review: review?.id, ...text }))).toEqual({ ...nothing, outcome: "missing" });
    expect((await (await openLink(harness(), account, bob.email)).show()).reviews).not.toEqual([]);
  });
});

describeIsolated("the link to what a person has written", (harness) => {
  const request = (account: TestAccount, email: string) => visit(harness(), account).myReviews.request({ email });
  const readStates = async () => {
    const rows = await harness()
      .database.db.selectFrom("mails")
      .select(["email", "state", "reason"])
      .where("category", "=", "my_reviews")
      .orderBy("id")
      .execute();
    return rows.map(({ email, state, reason }) => [email, state, reason]);
  };

  it("is sent on request to addresses that have written something, and does not show which have", async () => {
    const account = await harness().newAccount("Tea Shop");
    await addReview(harness(), account);
    await sendDueEmails(harness());
    const form = { store_name: "Tea Shop", email: "", state: "ready" };
    expect(await visit(harness(), account).myReviews.form({})).toEqual({ request: form });
    for (const email of ["ann@mail.example", "unknown@mail.example"]) {
      expect(await request(account, email)).toEqual({ request: { ...form, email, state: "sent" } });
    }
    const rows = (await readEmails(harness())).slice(-2);
    expect(rows.map(({ category, state }) => [category, state])).toEqual([
      ["my_reviews", "queued"],
      ["my_reviews", "queued"],
    ]);
    const sent = await sendDueEmails(harness());
    expect(sent.map(({ to, category }) => [to.address, category])).toEqual([["ann@mail.example", "my_reviews"]]);
    expect(await readStates()).toEqual([
      ["ann@mail.example", "sent", null],
      ["unknown@mail.example", "not_sent", "nothing_written"],
    ]);
    for (const email of ["", "ann", "ann@", `${"x".repeat(300)}@mail.example`]) {
      expect(await request(account, email)).toEqual({ request: { ...form, email, state: "invalid" } });
    }
    expect(await readStates()).toHaveLength(2);
    expect(await readEmailCounts(harness(), "my_reviews")).toMatchObject({ requests: 2, delivered: 1 });
    const listed = await account.service.emails.list({ category: "my_reviews" });
    expect(listed.mails.map(({ email }) => email)).toEqual(["unknown@mail.example", "ann@mail.example"]);
  });

  it("is sent despite an unsubscription, but not after a spam report or a bounce", async () => {
    const account = await harness().newAccount();
    const emails = ["ann@mail.example", "bob@mail.example", "eve@mail.example"];
    for (const email of emails) await addReview(harness(), account, { email });
    await sendDueEmails(harness());
    const [ann = "", bobEmail = "", eve = ""] = emails;
    await account.service.unsubscribers.massCreate({ email_list: { 1: [ann], 14: [ann] } });
    const account_id = await readAccountId(harness(), account);
    const suppressed = { account_id, mail_row: 1, created_at: harness().clock() };
    const { db } = harness().database;
    for (const [kind, email] of [
      ["bounces", bobEmail],
      ["spamreports", eve],
    ] as const) {
      await db
        .insertInto("mail_suppressions")
        .values({ ...suppressed, email_key: email, kind })
        .execute();
    }
    for (const email of emails) await request(account, email);
    await sendDueEmails(harness());
    expect(await readStates()).toEqual([
      [ann, "sent", null],
      [bobEmail, "not_sent", "bounced_before"],
      [eve, "not_sent", "reported_spam"],
    ]);
  });

  it("is in every email to a shopper, and in none to the store", async () => {
    const account = await harness().newAccount();
    await addCustomer(harness(), account, bob);
    await request(account, bob.email);
    harness().clock.advance(30 * dayMs);
    const sent = await sendDueEmails(harness());
    const withLink = sent.filter(({ data }) => "my_reviews_url" in data);
    expect(new Set(withLink.map(({ category }) => category))).toEqual(
      new Set(
        [
          "map",
          "anonymous_testimonials_request",
          "question_confirmation",
          "comment_notification",
          "my_reviews",
          "answer_notification_shoppers",
        ].filter((name) => sent.some(({ category }) => category === name)),
      ),
    );
    const toStore = sent.filter(({ to }) => to.address.startsWith("owner"));
    expect(toStore.length).toBeGreaterThan(0);
    expect(toStore.filter(({ data }) => "my_reviews_url" in data)).toEqual([]);
    const people = withLink.map(({ data, to }) => {
      const token = String(data["my_reviews_url"]).split("/").at(-1) ?? "";
      // The worker of tests has its own key.
      const claim = openClaim(token, ["my_reviews"], createSealer(Buffer.alloc(32, 7)));
      return [claim?.person, emailKeyOf(to.address)];
    });
    for (const [person, key] of people) expect(person).toBe(key);
  });
});

describeEngine(
  "requests for the link",
  (harness) => {
    it("count as submissions for their recipient, whether the address is known or not", async () => {
      const account = await harness().newAccount();
      await addReview(harness(), account);
      const { myReviews } = visit(harness(), account);
      for (const email of ["stranger@mail.example", "bob@mail.example"]) {
        for (const _ of [1, 2]) await myReviews.request({ email });
        await expect(myReviews.request({ email })).rejects.toMatchObject({ kind: "tooManyRequests" });
      }
    });
  },
  { publicLimits: { "submissions-per-recipient": { perDay: 2 } } },
);
