import { beforeEach, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type Harness, startMs, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOf } from "../support/builders.ts";
import { accountIdOf, createWorker, evaluateDueEmails, recordSent } from "../support/due-mails.ts";

type Fields = NonNullable<Parameters<typeof anOrder>[0]>;
const pot = (name = "Teapot") => anOrderedProduct({ name });
const products = { teapot: pot() };
const dueToday = "2026-03-01";
const dayMs = 86_400_000;

describeIsolated("why a mail is sent or not", (harness: () => Harness) => {
  let account: TestAccount;
  let service: Service;

  beforeEach(async () => {
    account = await harness().newAccount();
    service = account.service;
  });

  const bring = (fields: Fields = {}, more: { send_mail?: boolean } = {}) =>
    service.orders.massCreate(
      bulkOf(
        [anOrder({ order_id: "1", email: "jane@mail.example", order_date: dueToday, products, ...fields })],
        more,
      ),
    );
  const why = async (order_id = "1") => (await service.emails.explain({ order_id })).decisions;
  const say = async (order_id?: string) => (await why(order_id)).map(({ sentence }) => sentence);
  const db = () => harness().database.db;

  it("is told with every rule, for a mail that waits", async () => {
    await bring({ order_date: "2026-03-10" });
    const told = await service.emails.explain({ order_id: "1" });
    expect(told).toMatchObject({
      order_id: "1",
      order_date: "2026-03-10T00:00:00.000Z",
      email: "jane@mail.example",
      customer_name: "Ann",
      created_at: new Date(startMs).toISOString(),
      sends_mail: true,
    });
    const [decision] = told.decisions;
    expect(decision).toMatchObject({
      products: [{ product_id: "teapot", name: "Teapot", left_out_by: null }],
      is_whole_order: false,
      state: "queued",
      decided_by: null,
      at: "2026-03-24T00:00:00.000Z",
      sentence: "An email about Teapot will be sent to jane@mail.example on 2026-03-24.",
    });
    expect(decision?.rules.map(({ result }) => result)).toEqual(Array(12).fill("passed"));
  });

  it("names the rule that decides, those before it that passed, and those that were not asked", async () => {
    await service.emailRules.set({ name: "order_too_old", value: false });
    await bring();
    await service.unsubscribers.massCreate({ email_list: { 1: ["Jane@mail.example"] } });
    await evaluateDueEmails(harness());
    const [decision] = await why();
    expect(decision).toMatchObject({ state: "not_sent", decided_by: "unsubscribed" });
    expect(decision?.rules.map(({ name, result }) => `${name} ${result}`)).toEqual([
      "past_order passed",
      "requests_off passed",
      "stopped_by_hand passed",
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

  it("tells who unsubscribed an address, and when", async () => {
    await bring();
    await service.unsubscribers.massCreate({ email_list: { 1: ["jane@mail.example"] } });
    const waits =
      "The email about Teapot will not be sent: the store unsubscribed jane@mail.example from review requests on 2026-03-15.";
    expect(await say()).toEqual([waits]);
    await db()
      .updateTable("unsubscribers")
      .set({ by_name: "USER", created_at: Date.parse("2026-03-03") })
      .execute();
    harness().clock.advance(dayMs);
    await evaluateDueEmails(harness());
    expect(await say()).toEqual([
      "The email about Teapot was not sent: jane@mail.example unsubscribed from review requests on 2026-03-03.",
    ]);
    // What decided then is told, whatever holds by now.
    await db().deleteFrom("unsubscribers").execute();
    expect(await say()).toEqual([
      "The email about Teapot was not sent: jane@mail.example unsubscribed from review requests.",
    ]);
  });

  it("tells that an order came as a past one, or a product without a mail", async () => {
    await bring({}, { send_mail: false });
    expect(await say()).toEqual([
      "No email about Teapot was sent: the order was imported on 2026-03-15 as a past order, for which no emails are sent.",
    ]);
    await bring({ order_id: "2" });
    await bring({ order_id: "2", products: { pan: pot("Pan") } }, { send_mail: false });
    expect((await say("2"))[1]).toBe(
      "No email about Pan was sent: it was added to the order on 2026-03-15 with emails turned off.",
    );
    expect((await why("2")).map(({ decided_by }) => decided_by)).toEqual([null, "past_order"]);
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
          aReview({
            email: "jane@mail.example",
            past: { created_at: "2026-02-04", reviewer_type: "verified_buyer" },
          }),
        ),
      "jane@mail.example already reviewed this product on 2026-02-04",
    ],
  ])("tells of %s, before it is judged and behind it", async (rule, happen, reason) => {
    await bring();
    await happen(service);
    expect(await why()).toMatchObject([{ state: "queued", decided_by: rule }]);
    expect(await say()).toEqual([`The email about Teapot will not be sent: ${reason}.`]);
    await evaluateDueEmails(harness());
    expect(await why()).toMatchObject([{ state: "not_sent", decided_by: rule }]);
    expect(await say()).toEqual([`The email about Teapot was not sent: ${reason}.`]);
  });

  it("tells of an order that was too old", async () => {
    await bring({ order_date: "2025-09-14" });
    expect(await say()).toEqual([
      "The email about Teapot will not be sent: the order of 2025-09-14 will be older than 6 months.",
    ]);
    await evaluateDueEmails(harness());
    expect(await say()).toEqual([
      "The email about Teapot was not sent: the order of 2025-09-14 was too old.",
    ]);
  });

  it("tells of a person who had as many as one gets, also before the day", async () => {
    const id = await accountIdOf(harness(), account);
    for (const n of [1, 2, 3, 4]) await recordSent(harness(), id, "jane@mail.example", startMs - n * dayMs);
    await bring({ order_date: "2026-03-05", products: { teapot: pot(), pan: pot("Pan") } });
    expect(await say()).toEqual([
      "An email about Teapot will be sent to jane@mail.example on 2026-03-19.",
      "The email about Pan will not be sent: jane@mail.example will already have received the maximum of 5 review requests in 30 days.",
    ]);
    harness().clock.advance(4 * dayMs);
    await evaluateDueEmails(harness());
    const [, pan] = await why();
    expect(pan).toMatchObject({
      decided_by: "too_many_to_person",
      sentence:
        "The email about Pan was not sent: jane@mail.example had already received the maximum number of review requests.",
    });
  });

  it("tells of earlier mails that bounced, or were reported", async () => {
    const account_id = await accountIdOf(harness(), account);
    const note = (kind: string) =>
      db()
        .insertInto("mail_suppressions")
        .values({ account_id, email_key: "jane@mail.example", kind, mail_row: 1, created_at: startMs })
        .execute();
    await bring();
    await note("bounces");
    expect(await say()).toEqual([
      "The email about Teapot will not be sent: an earlier email to jane@mail.example bounced on 2026-03-15.",
    ]);
    await note("spamreports");
    expect(await why()).toMatchObject([{ decided_by: "reported_spam" }]);
  });

  it("tells of mails that are sent, being sent, put off, bounced, failed or stopped by hand", async () => {
    await bring();
    const worker = createWorker(harness());
    await worker.claim(1);
    expect(await say()).toEqual(["The email about Teapot is being sent to jane@mail.example."]);
    const become = async (values: Record<string, string | number | null>) => {
      await db()
        .updateTable("mails")
        .set({ leased_until: null, ...values })
        .execute();
      return (await say())[0];
    };
    expect(await become({ state: "sent", sent_at: startMs })).toBe(
      "The email about Teapot was sent to jane@mail.example on 2026-03-15.",
    );
    expect(await become({ state: "bounced", sent_at: null, reason: "550 no such user" })).toBe(
      "The email about Teapot was sent to jane@mail.example but bounced: 550 no such user.",
    );
    expect(await become({ state: "failed", reason: "the template is broken" })).toBe(
      "The email about Teapot could not be sent to jane@mail.example: the template is broken.",
    );
    const later = { state: "queued", attempts: 2, reason: "451 busy", due_at: startMs + dayMs };
    expect(await become(later)).toBe(
      "The email about Teapot could not be sent to jane@mail.example yet and will be retried on 2026-03-16: 451 busy.",
    );
    expect(await become({ attempts: 0, reason: null, due_at: startMs - dayMs })).toBe(
      "The email about Teapot to jane@mail.example has been due since 2026-03-14 and is waiting for a worker.",
    );
    const [mail] = (await service.emails.list({})).mails;
    await service.emails.cancel({ mail_id: mail?.id ?? 0 });
    expect(await say()).toEqual(["The email about Teapot was not sent: the store canceled this email."]);
  });

  it("tells of a mail about a whole order which products it leaves out", async () => {
    await service.emailRules.set({ name: "one_mail_per", value: "order" });
    await bring({ products: { teapot: pot(), pan: pot("Pan") } });
    await service.orders.cancelEmails({ orders: [{ order_id: "1", skus: ["pan"] }] });
    const [decision, ...others] = await why();
    expect(others).toEqual([]);
    expect(decision).toMatchObject({
      is_whole_order: true,
      decided_by: null,
      products: [
        { product_id: "teapot", left_out_by: null },
        { product_id: "pan", left_out_by: "mails_stopped" },
      ],
      sentence:
        "The email about this order to jane@mail.example has been due since 2026-03-15 and is waiting for a worker.",
    });
  });

  it("is told of one product alone, and not of what is not there", async () => {
    await bring({ products: { teapot: pot(), pan: pot("Pan") } });
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
    const other = await harness().newAccount();
    await expect(other.service.emails.explain({ order_id: "1" })).rejects.toMatchObject({
      kind: "recordNotFound",
    });
    const anybody = harness().service({ appKey: account.caller.appKey });
    await expect(anybody.emails.explain({ order_id: "1" })).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it("changes nothing", async () => {
    await bring();
    const before = await db().selectFrom("mails").selectAll().execute();
    await why();
    expect(await db().selectFrom("mails").selectAll().execute()).toEqual(before);
    expect(await db().selectFrom("mail_events").selectAll().execute()).toEqual([]);
  });
});
