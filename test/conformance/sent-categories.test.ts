import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createWorker } from "../../src/app/worker.ts";
import { type EmailCategory, emailTypes, recordedCategories, resendCategories } from "../../src/contract/index.ts";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type Harness } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../support/builders.ts";
import { createLinkTokens, readStoredEmails } from "../support/email-links.ts";
import { aQuestion, lastToken, readEmails } from "../support/emails.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { silentLog } from "../support/silent-log.ts";

const from = { name: null, address: "shop@shop.example" };
const dayMs = 86_400_000;
const [owner, ann, bo, cy] = ["owner@shop.example", "ann@mail.example", "bo@mail.example", "cy@mail.example"];

/** The recipient of each category that an event causes, in alphabetical order. */
const recipients: Partial<Record<EmailCategory, string>> = {
  anonymous_testimonials_request: ann,
  answer_notification_shop_owner: owner,
  answer_notification_shoppers: ann,
  answer_request_shop_owner: owner,
  answer_request_shoppers: cy,
  comment_notification: ann,
  comment_request: owner,
  coupon_notification: bo,
  custom_map: ann,
  mail_after_invoice: ann,
  mail_after_service: bo,
  map: ann,
  question_confirmation: ann,
  testimonials_request: ann,
};
/** Categories of which the events cause two emails to the recipient. */
const twice = [`comment_request ${owner}`];
const switches = [
  "send_reminders",
  "send_site_requests",
  "send_site_reminders",
  "ask_shoppers",
  "send_coupons",
  "send_coupon_reminders",
] as const;
const reminders: Partial<Record<EmailCategory, string>> = { coupon_reminder: bo, reminder: ann, site_reminder: ann };
/** Categories of emails that are not stored if a rule prevents them. */
const unstored = new Set(["mail_after_service", "coupon_notification"]);

describeIsolated("all categories", (harness: () => Harness) => {
  let service: Service;
  let server: MailServer;

  beforeEach(async () => {
    server = await startMailServer();
    ({ service } = await harness().newAccount("Tea Shop"));
    await harness().database.db.updateTable("users").set({ email: owner }).where("kind", "=", "owner").execute();
    for (const name of switches) {
      await service.emailRules.set({ name, value: true });
    }
    await service.coupons.upload({ coupon_action: "map_review", codes: ["TEA-1", "TEA-2"] });
  });
  afterEach(() => server.close());

  /** Sends what is due, and returns the category and recipient of each email that the mail server received. */
  const send = async () => {
    const { host, port, received } = server;
    const worker = await createWorker({
      work: harness().work,
      mail: { kind: "smtp", host, port, tls: "none", user: null, password: null, from },
      version: "0",
      clock: harness().clock,
      random: randomBytes,
      log: silentLog,
    });
    await worker.runOnce(new AbortController().signal);
    await worker.close();
    const categoryOf = (raw: string) => /^List-ID: <([a-z-]+)\./m.exec(raw)?.[1]?.replaceAll("-", "_") ?? "";
    return received.splice(0).map(({ raw, to }) => [categoryOf(raw), to]);
  };
  const follow = async (name: string) => service.links.follow({ token: await lastToken(harness(), name) });
  const sorted = (sent: readonly unknown[][]) => sent.map((pair) => pair.join(" ")).toSorted();
  const expected = (categories: object) => sorted(Object.entries(categories));

  /** Stores an order, whose own emails are due later by default. */
  const orderFrom = (email: string, product: string, order_date = "2026-03-15") => {
    const orders = [anOrder({ order_id: product, email, order_date, products: { [product]: anOrderedProduct() } })];
    return service.orders.massCreate(bulkOrders(orders));
  };
  /** Reviews the product of an order by the link of its email. */
  const reviewOrder = async (email: string, product: string) => {
    await orderFrom(email, product);
    const [mail] = (await readStoredEmails(harness())).slice(-2);
    const row = await harness()
      .database.db.selectFrom("products")
      .select("id")
      .where("product_id", "=", product)
      .executeTakeFirstOrThrow();
    if (!mail) throw new Error("the order has no email");
    const token = createLinkTokens(harness(), mail).review(row.id);
    const form = { score: "1", title: "Drips", content: "It drips.", display_name: "Bo" };
    await service.reviewRequests.write({ token, ...form });
  };
  /** Causes emails of each category, except reminders. */
  const causeAll = async () => {
    await reviewOrder(bo, "pot");
    await service.reviews.create(aReview());
    await follow("verify_url");
    const { reviews } = await service.reviews.list({});
    const review = reviews.find(({ email }) => email === ann);
    await service.reviews.comment({ review_id: review?.id ?? 0, content: "Thank you!" });
    await orderFrom(cy, "teapot");
    await service.questions.sendConfirmation(aQuestion());
    await follow("confirm_url");
    const { questions } = await service.questions.list({ sku: "teapot" });
    const answer = { question_id: questions[0]?.id ?? 0, content: "Yes.", display_name: "Bo", email: bo };
    await service.answers.create(answer);
    await service.emails.send({ category: "mail_after_service", recipients: [{ email: bo, reference: "1" }] });
    await orderFrom(ann, "cup", "2026-02-20");
    for (const category of ["custom_map", "testimonials_request"] as const) {
      await service.campaigns.create({ name: category, category, emails_per_hour: 60, product_ids: ["cup"] });
    }
  };
  const listReasons = async () =>
    (await service.emails.list({})).mails.map(({ category, reason }) => [category, reason]);

  it("are sent by their events, each once, and counted", async () => {
    await service.emailRules.set({ name: "most_mails_to_person", value: 10 });
    await causeAll();
    expect(sorted(await send())).toEqual([...expected(recipients), ...twice].toSorted());
    const { mails } = await service.emails.list({ state: "sent" });
    const resent = mails.filter(({ category }) => Object.hasOwn(resendCategories, category));
    await service.emails.resend({ mail_ids: resent.map(({ id }) => id) });
    expect(sorted(await send())).toEqual([`custom_map ${ann}`, `map ${ann}`]);
    harness().clock.advance(7 * dayMs);
    expect(sorted(await send())).toEqual(expected(reminders));
    harness().clock.advance(6 * dayMs);
    expect(await send()).toEqual([]);
    const range = { since_date: "2026-03-01", to_date: "2026-06-30", aggregate: "month" } as const;
    const stats = await service.emails.statsOfAll({ ...range, categories: recordedCategories.join(",") });
    const counts = recordedCategories.flatMap((category) => {
      const months = Object.values(stats[category] ?? {}) as { requests: number; delivered: number }[];
      const count = (name: "requests" | "delivered") => months.reduce((sum, month) => sum + (month[name] ?? 0), 0);
      return count("requests") === 0 ? [] : [`${category} ${count("requests")} ${count("delivered")}`];
    });
    const categories = [...Object.keys({ ...recipients, ...reminders }), "resend_custom_map", "resend_map"];
    const times = (category: string) => (category === "comment_request" ? 2 : 1);
    const counted = categories.map((category) => `${category} ${times(category)} ${times(category)}`);
    expect(counts.toSorted()).toEqual(counted.toSorted());
  });

  const suppress = {
    unsubscribed: async () => {
      const all = Object.keys(emailTypes).map((type) => [type, [ann, bo, cy, owner]]);
      await service.unsubscribers.massCreate({ email_list: Object.fromEntries(all) as never });
    },
    reported_spam: () => insertSuppressions("spamreports"),
    bounced_before: () => insertSuppressions("bounces"),
  };
  const insertSuppressions = async (kind: string) => {
    const account_id = await harness().newestAccountId();
    const rows = [ann, bo, cy, owner].map((email_key) => ({ account_id, email_key, kind, mail_row: 1, created_at: 1 }));
    await harness().database.db.insertInto("mail_suppressions").values(rows).execute();
  };

  it.each(["unsubscribed", "reported_spam", "bounced_before"] as const)("are not sent after %s", async (rule) => {
    await suppress[rule]();
    await causeAll();
    expect(await send()).toEqual([]);
    const stored = [...Object.keys(recipients), "comment_request"].filter((category) => !unstored.has(category));
    const reasons = (await listReasons()).filter(([, reason]) => reason !== null);
    expect(sorted(reasons)).toEqual(sorted(stored.map((category) => [category, rule])));
    expect((await service.coupons.stats({ details: true })).left).toMatchObject({ map_review: 2 });
    const input = { category: "mail_after_service", recipients: [{ email: bo }] } as const;
    expect((await service.emails.previewSend(input as never)).recipients).toMatchObject([{ rule }]);
  });

  it.each(["unsubscribed", "reported_spam", "bounced_before"] as const)("have no reminders after %s", async (rule) => {
    await causeAll();
    await send();
    await suppress[rule]();
    harness().clock.advance(7 * dayMs);
    expect(await send()).toEqual([]);
    const reasons = (await listReasons()).filter(
      ([category]) => category !== undefined && category !== null && category in reminders,
    );
    expect(sorted(reasons)).toEqual(sorted(Object.keys(reminders).map((category) => [category, rule])));
  });

  it("that ask for something count toward the limit per customer", async () => {
    await service.emailRules.set({ name: "most_mails_to_person", value: 1 });
    await causeAll();
    const limited = new Set(["map", "mail_after_invoice", "custom_map", "testimonials_request"]);
    const sent = (await send()).filter(([category]) => limited.has(category ?? ""));
    expect(sent).toHaveLength(1);
    const reasons = (await listReasons()).flatMap(([, reason]) => reason ?? []);
    expect(reasons).toEqual(Array.from({ length: 3 }, () => "too_many_to_person"));
  });

  it("are off by default, if the specification's customers do not expect them", async () => {
    for (const name of switches) {
      await service.emailRules.set({ name, value: null });
    }
    await causeAll();
    await send();
    harness().clock.advance(7 * dayMs);
    await send();
    const asked = ["mail_after_invoice", "answer_request_shoppers", "coupon_notification"];
    const optional = new Set([...asked, ...Object.keys(reminders)]);
    expect((await readEmails(harness())).filter(({ category }) => optional.has(category))).toEqual([]);
  });
});
