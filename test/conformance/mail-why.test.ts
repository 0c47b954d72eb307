import { beforeEach, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type Harness, startMs, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOf } from "../support/builders.ts";
import { accountIdOf, createWorker, judgeDue, recordSent } from "../support/due-mails.ts";

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
      sentence: "A mail for Teapot will be sent to jane@mail.example on 24 March 2026.",
    });
    expect(decision?.rules.map(({ result }) => result)).toEqual(Array(12).fill("passed"));
  });

  it("names the rule that decides, those before it that passed, and those that were not asked", async () => {
    await service.emailRules.set({ name: "order_too_old", value: false });
    await bring();
    await service.unsubscribers.massCreate({ email_list: { 1: ["Jane@mail.example"] } });
    await judgeDue(harness());
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
      "As things are, no mail will be sent for Teapot because the store unsubscribed jane@mail.example from these mails on 15 March 2026.";
    expect(await say()).toEqual([waits]);
    await db()
      .updateTable("unsubscribers")
      .set({ by_name: "USER", created_at: Date.parse("2026-03-03") })
      .execute();
    harness().clock.advance(dayMs);
    await judgeDue(harness());
    expect(await say()).toEqual([
      "No mail was sent for Teapot on 16 March 2026 because jane@mail.example unsubscribed from these mails on 3 March 2026.",
    ]);
    // What decided then is told, whatever holds by now.
    await db().deleteFrom("unsubscribers").execute();
    expect(await say()).toEqual([
      "No mail was sent for Teapot on 16 March 2026 because jane@mail.example unsubscribed from these mails.",
    ]);
  });

  it("tells that an order came as a past one, or a product without a mail", async () => {
    await bring({}, { send_mail: false });
    expect(await say()).toEqual([
      "No mail was sent for Teapot because the order was taken over as a past one on 15 March 2026, and past orders bring no mails.",
    ]);
    await bring({ order_id: "2" });
    await bring({ order_id: "2", products: { pan: pot("Pan") } }, { send_mail: false });
    expect((await say("2"))[1]).toBe(
      "No mail was sent for Pan because it came to the order on 15 March 2026 with the word that no mail is wanted.",
    );
    expect((await why("2")).map(({ decided_by }) => decided_by)).toEqual([null, "past_order"]);
  });

  it.each<[string, (of: Service) => Promise<unknown>, string]>([
    [
      "product_blacklisted",
      (of) => of.products.massUpdate({ products: { teapot: aProduct({ blacklisted: true }) } }),
      "the store asks for no reviews of this product",
    ],
    [
      "mails_stopped",
      (of) => of.orders.cancelEmails({ orders: [{ order_id: "1" }] }),
      "the store stopped the mails of this order on 15 March 2026",
    ],
    [
      "mails_stopped",
      (of) => of.orders.cancelEmails({ orders: [{ order_id: "1", skus: ["teapot"] }] }),
      "the store stopped the mails for this product of the order on 15 March 2026",
    ],
    [
      "requests_off",
      (of) => of.emailRules.set({ name: "send_review_requests", value: false }),
      "the store has switched its review requests off",
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
      "jane@mail.example reviewed this product already on 4 February 2026",
    ],
  ])("tells of %s, before it is judged and behind it", async (rule, happen, because) => {
    await bring();
    await happen(service);
    expect(await why()).toMatchObject([{ state: "queued", decided_by: rule }]);
    expect(await say()).toEqual([`As things are, no mail will be sent for Teapot because ${because}.`]);
    await judgeDue(harness());
    expect(await why()).toMatchObject([{ state: "not_sent", decided_by: rule }]);
    expect(await say()).toEqual([`No mail was sent for Teapot on 15 March 2026 because ${because}.`]);
  });

  it("tells of an order that was too old", async () => {
    await bring({ order_date: "2025-09-14" });
    expect(await say()).toEqual([
      "As things are, no mail will be sent for Teapot because the order of 14 September 2025 is older than 6 months by then.",
    ]);
    await judgeDue(harness());
    expect(await say()).toEqual([
      "No mail was sent for Teapot on 15 March 2026 because the order of 14 September 2025 was too old.",
    ]);
  });

  it("tells of a person who had as many as one gets, also before the day", async () => {
    const id = await accountIdOf(harness(), account);
    for (const n of [1, 2, 3, 4]) await recordSent(harness(), id, "jane@mail.example", startMs - n * dayMs);
    await bring({ order_date: "2026-03-05", products: { teapot: pot(), pan: pot("Pan") } });
    expect(await say()).toEqual([
      "A mail for Teapot will be sent to jane@mail.example on 19 March 2026.",
      "As things are, no mail will be sent for Pan when it is due on 19 March 2026 because jane@mail.example has 5 review requests within 30 days by then, and gets no more.",
    ]);
    harness().clock.advance(4 * dayMs);
    await judgeDue(harness());
    const [, pan] = await why();
    expect(pan).toMatchObject({
      decided_by: "too_many_to_person",
      sentence:
        "No mail was sent for Pan on 19 March 2026 because jane@mail.example had as many review requests at that time as one person gets.",
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
      "As things are, no mail will be sent for Teapot because an earlier mail to jane@mail.example was refused for good by its mail server on 15 March 2026.",
    ]);
    await note("spamreports");
    expect(await why()).toMatchObject([{ decided_by: "reported_spam" }]);
  });

  it("tells of mails that are sent, being sent, put off, bounced, failed or stopped by hand", async () => {
    await bring();
    const worker = createWorker(harness());
    await worker.claim(1);
    expect(await say()).toEqual(["A mail for Teapot to jane@mail.example is being sent at this moment."]);
    const become = async (values: Record<string, string | number | null>) => {
      await db()
        .updateTable("mails")
        .set({ leased_until: null, ...values })
        .execute();
      return (await say())[0];
    };
    expect(await become({ state: "sent", sent_at: startMs })).toBe(
      "A mail for Teapot was sent to jane@mail.example on 15 March 2026.",
    );
    expect(await become({ state: "bounced", sent_at: null, reason: "550 no such user" })).toBe(
      "A mail for Teapot was sent to jane@mail.example, and refused for good by its mail server: 550 no such user.",
    );
    expect(await become({ state: "failed", reason: "the template is broken" })).toBe(
      "A mail for Teapot to jane@mail.example could not be sent: the template is broken.",
    );
    const later = { state: "queued", attempts: 2, reason: "451 busy", due_at: startMs + dayMs };
    expect(await become(later)).toBe(
      "A mail for Teapot to jane@mail.example could not be handed over yet (451 busy), and is tried again on 16 March 2026.",
    );
    expect(await become({ attempts: 0, reason: null, due_at: startMs - dayMs })).toBe(
      "A mail for Teapot to jane@mail.example has been due since 14 March 2026, and goes as soon as mails are sent.",
    );
    const [mail] = (await service.emails.list({})).mails;
    await service.emails.cancel({ mail_id: mail?.id ?? 0 });
    expect(await say()).toEqual([
      "No mail was sent for Teapot on 15 March 2026 because the store stopped this mail by hand.",
    ]);
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
        "A mail for this order to jane@mail.example has been due since 15 March 2026, and goes as soon as mails are sent.",
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
