import { beforeEach, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type Harness, startMs, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOrders } from "../support/builders.ts";
import {
  readAccountId,
  createWorker,
  evaluateDueEmails,
  recordSent,
  newAccountPerProduct,
} from "../support/due-emails.ts";

type Fields = NonNullable<Parameters<typeof anOrder>[0]>;
const pot = (name = "Teapot") => anOrderedProduct({ name });
const products = { teapot: pot() };
const dueToday = "2026-03-01";
const dayMs = 86_400_000;

describeIsolated("emails.explain", (harness: () => Harness) => {
  let account: TestAccount;
  let service: Service;

  beforeEach(async () => {
    account = await newAccountPerProduct(harness());
    service = account.service;
  });

  const createOrder = (fields: Fields = {}, more: { send_mail?: boolean } = {}) =>
    service.orders.massCreate(
      bulkOrders(
        [anOrder({ order_id: "1", email: "jane@mail.example", order_date: dueToday, products, ...fields })],
        more,
      ),
    );
  const explain = async (order_id = "1") => (await service.emails.explain({ order_id })).decisions;
  const readSentences = async (order_id?: string) => (await explain(order_id)).map(({ sentence }) => sentence);
  const db = () => harness().database.db;

  it("lists every rule for a queued email", async () => {
    await createOrder({ order_date: "2026-03-10" });
    const explanation = await service.emails.explain({ order_id: "1" });
    expect(explanation).toMatchObject({
      order_id: "1",
      order_date: "2026-03-10T00:00:00.000Z",
      email: "jane@mail.example",
      customer_name: "Ann",
      created_at: new Date(startMs).toISOString(),
      sends_mail: true,
    });
    const [decision] = explanation.decisions;
    expect(decision).toMatchObject({
      products: [{ product_id: "teapot", name: "Teapot", dropped_by: null }],
      is_whole_order: false,
      state: "queued",
      decided_by: null,
      at: "2026-03-24T00:00:00.000Z",
      sentence: "An email about Teapot will be sent to jane@mail.example on 2026-03-24.",
    });
    expect(decision?.rules.map(({ result }) => result)).toEqual(Array(13).fill("passed"));
  });

  it("names the deciding rule, the rules before it that passed, and those that were not evaluated", async () => {
    await service.emailRules.set({ name: "order_too_old", value: false });
    await createOrder();
    await service.unsubscribers.massCreate({ email_list: { 1: ["Jane@mail.example"] } });
    await evaluateDueEmails(harness());
    const [decision] = await explain();
    expect(decision).toMatchObject({ state: "not_sent", decided_by: "unsubscribed" });
    expect(decision?.rules.map(({ name, result }) => `${name} ${result}`)).toEqual([
      "past_order passed",
      "requests_off passed",
      "stopped_by_hand passed",
      "held_too_long passed",
      "order_too_old off",
      "bad_address passed",
      "product_blacklisted passed",
      "mails_stopped passed",
      "unsubscribed decides",
      "reported_spam not_asked",
      "bounced_before not_asked",
      "reviewed_lately not_asked",
      "too_many_to_person not_asked",
    ]);
  });

  it("reports who unsubscribed an address, and when", async () => {
    await createOrder();
    await service.unsubscribers.massCreate({ email_list: { 1: ["jane@mail.example"] } });
    const queuedSentence =
      "The email about Teapot will not be sent: the store unsubscribed jane@mail.example from review requests on 2026-03-15.";
    expect(await readSentences()).toEqual([queuedSentence]);
    await db()
      .updateTable("unsubscribers")
      .set({ by_name: "USER", created_at: Date.parse("2026-03-03") })
      .execute();
    harness().clock.advance(dayMs);
    await evaluateDueEmails(harness());
    expect(await readSentences()).toEqual([
      "The email about Teapot was not sent: jane@mail.example unsubscribed from review requests on 2026-03-03.",
    ]);
    // The decision is reported as it was made, whatever has changed since.
    await db().deleteFrom("unsubscribers").execute();
    expect(await readSentences()).toEqual([
      "The email about Teapot was not sent: jane@mail.example unsubscribed from review requests.",
    ]);
  });

  it("reports an order imported as a past order, and a product added without emails", async () => {
    await createOrder({}, { send_mail: false });
    expect(await readSentences()).toEqual([
      "No email about Teapot was sent: the order was imported on 2026-03-15 as a past order, for which no emails are sent.",
    ]);
    await createOrder({ order_id: "2" });
    await createOrder({ order_id: "2", products: { pan: pot("Pan") } }, { send_mail: false });
    expect((await readSentences("2"))[1]).toBe(
      "No email about Pan was sent: it was added to the order on 2026-03-15 with emails turned off.",
    );
    expect((await explain("2")).map(({ decided_by }) => decided_by)).toEqual([null, "past_order"]);
  });

  it.each<[string, (of: Service) => Promise<unknown>, string]>([
    [
      "product_blacklisted",
      (of) => of.products.massUpdate({ products: { teapot: aProduct({ blacklisted: true }) } }),
      "the store does not collect reviews for this product",
    ],
    [
      "mails_stopped",
      (of) => of.orders.cancelEmails({ orders: [{ order_id: "1" }] }),
      "the store canceled the emails for this order on 2026-03-15",
    ],
    [
      "mails_stopped",
      (of) => of.orders.cancelEmails({ orders: [{ order_id: "1", skus: ["teapot"] }] }),
      "the store canceled the emails for this product of the order on 2026-03-15",
    ],
    [
      "requests_off",
      (of) => of.emailRules.set({ name: "send_review_requests", value: false }),
      "the store has turned off review requests",
    ],
    [
      "reviewed_lately",
      (of) =>
        of.reviews.createNow(
          aReview({ email: "jane@mail.example", past: { created_at: "2026-02-04", reviewer_type: "verified_buyer" } }),
        ),
      "jane@mail.example already reviewed this product on 2026-02-04",
    ],
  ])("reports %s, before and after the email is evaluated", async (rule, applyCause, reason) => {
    await createOrder();
    await applyCause(service);
    expect(await explain()).toMatchObject([{ state: "queued", decided_by: rule }]);
    expect(await readSentences()).toEqual([`The email about Teapot will not be sent: ${reason}.`]);
    await evaluateDueEmails(harness());
    expect(await explain()).toMatchObject([{ state: "not_sent", decided_by: rule }]);
    expect(await readSentences()).toEqual([`The email about Teapot was not sent: ${reason}.`]);
  });

  it("reports an order that is too old", async () => {
    await createOrder({ order_date: "2025-09-14" });
    expect(await readSentences()).toEqual([
      "The email about Teapot will not be sent: the order of 2025-09-14 will be older than 6 months.",
    ]);
    await evaluateDueEmails(harness());
    expect(await readSentences()).toEqual([
      "The email about Teapot was not sent: the order of 2025-09-14 was too old.",
    ]);
  });

  it("reports a person who reached the limit, even before the due date", async () => {
    const id = await readAccountId(harness(), account);
    for (const n of [1, 2, 3, 4]) await recordSent(harness(), id, "jane@mail.example", startMs - n * dayMs);
    await createOrder({ order_date: "2026-03-05", products: { teapot: pot(), pan: pot("Pan") } });
    expect(await readSentences()).toEqual([
      "An email about Teapot will be sent to jane@mail.example on 2026-03-19.",
      "The email about Pan will not be sent: jane@mail.example will already have received the maximum of 5 review requests in 30 days.",
    ]);
    harness().clock.advance(4 * dayMs);
    await evaluateDueEmails(harness());
    const [, pan] = await explain();
    expect(pan).toMatchObject({
      decided_by: "too_many_to_person",
      sentence:
        "The email about Pan was not sent: jane@mail.example had already received the maximum number of review requests.",
    });
  });

  it("reports earlier emails that bounced or were reported as spam", async () => {
    const account_id = await readAccountId(harness(), account);
    const suppress = (kind: string) =>
      db()
        .insertInto("mail_suppressions")
        .values({ account_id, email_key: "jane@mail.example", kind, mail_row: 1, created_at: startMs })
        .execute();
    await createOrder();
    await suppress("bounces");
    expect(await readSentences()).toEqual([
      "The email about Teapot will not be sent: an earlier email to jane@mail.example bounced on 2026-03-15.",
    ]);
    await suppress("spamreports");
    expect(await explain()).toMatchObject([{ decided_by: "reported_spam" }]);
  });

  it("reports emails that are sent, being sent, delayed, bounced, failed, or canceled", async () => {
    await createOrder();
    const worker = createWorker(harness());
    await worker.claim(1);
    expect(await readSentences()).toEqual(["The email about Teapot is being sent to jane@mail.example."]);
    const readSentenceAfter = async (values: Record<string, string | number | null>) => {
      await db()
        .updateTable("mails")
        .set({ leased_until: null, ...values })
        .execute();
      return (await readSentences())[0];
    };
    expect(await readSentenceAfter({ state: "sent", sent_at: startMs })).toBe(
      "The email about Teapot was sent to jane@mail.example on 2026-03-15.",
    );
    expect(await readSentenceAfter({ state: "bounced", sent_at: null, reason: "550 no such user" })).toBe(
      "The email about Teapot was sent to jane@mail.example but bounced: 550 no such user.",
    );
    expect(await readSentenceAfter({ state: "failed", reason: "the template is broken" })).toBe(
      "The email about Teapot could not be sent to jane@mail.example: the template is broken.",
    );
    const later = { state: "queued", attempts: 2, reason: "451 busy", due_at: startMs + dayMs };
    expect(await readSentenceAfter(later)).toBe(
      "The email about Teapot could not be sent to jane@mail.example yet and will be retried on 2026-03-16: 451 busy.",
    );
    expect(await readSentenceAfter({ attempts: 0, reason: null, due_at: startMs - dayMs })).toBe(
      "The email about Teapot to jane@mail.example has been due since 2026-03-14 and is waiting for a worker.",
    );
    const [mail] = (await service.emails.list({})).mails;
    await service.emails.cancel({ mail_id: mail?.id ?? 0 });
    expect(await readSentences()).toEqual(["The email about Teapot was not sent: the store canceled this email."]);
  });

  it("lists the products dropped from an email that covers a complete order", async () => {
    await service.emailRules.set({ name: "one_mail_per", value: "order" });
    await createOrder({ products: { teapot: pot(), pan: pot("Pan") } });
    await service.orders.cancelEmails({ orders: [{ order_id: "1", skus: ["pan"] }] });
    const [decision, ...others] = await explain();
    expect(others).toEqual([]);
    expect(decision).toMatchObject({
      is_whole_order: true,
      decided_by: null,
      products: [
        { product_id: "teapot", dropped_by: null },
        { product_id: "pan", dropped_by: "mails_stopped" },
      ],
      sentence:
        "The email about this order to jane@mail.example has been due since 2026-03-15 and is waiting for a worker.",
    });
  });

  it("can be limited to one product, and fails for unknown products and orders", async () => {
    await createOrder({ products: { teapot: pot(), pan: pot("Pan") } });
    const { decisions } = await service.emails.explain({ order_id: "1", product_id: "pan" });
    expect(decisions.map(({ products: [product] }) => product?.product_id)).toEqual(["pan"]);
    await expect(service.emails.explain({ order_id: "1", product_id: "cup" })).rejects.toMatchObject({
      kind: "recordNotFound",
      message: "Couldn't find Product with product_id = cup in order 1",
    });
    await expect(service.emails.explain({ order_id: "01" })).rejects.toMatchObject({
      kind: "recordNotFound",
      message: "Couldn't find Order with order_id = 01",
    });
    const other = await newAccountPerProduct(harness());
    await expect(other.service.emails.explain({ order_id: "1" })).rejects.toMatchObject({ kind: "recordNotFound" });
    const anonymous = harness().service({ appKey: account.caller.appKey });
    await expect(anonymous.emails.explain({ order_id: "1" })).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it("has no side effects", async () => {
    await createOrder();
    const before = await db().selectFrom("mails").selectAll().execute();
    await explain();
    expect(await db().selectFrom("mails").selectAll().execute()).toEqual(before);
    expect(await db().selectFrom("mail_events").selectAll().execute()).toEqual([]);
  });
});
