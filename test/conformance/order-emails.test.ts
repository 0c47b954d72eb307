import { beforeEach, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../support/builders.ts";
import {
  readAccountId,
  evaluateDueEmails,
  recordSent,
  readEmailResults,
  newAccountPerProduct,
} from "../support/due-emails.ts";
import { lastToken } from "../support/emails.ts";

type Fields = NonNullable<Parameters<typeof anOrder>[0]>;
const orderedProducts = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, anOrderedProduct()]));
const at = (date: string) => Date.parse(date);

describeIsolated("orders", (harness: () => Harness) => {
  let account: TestAccount;
  let service: Service;

  beforeEach(async () => {
    account = await newAccountPerProduct(harness());
    service = account.service;
  });

  const createOrder = (fields: Fields, more: { send_mail?: boolean } = {}) =>
    service.orders.massCreate(bulkOrders([anOrder({ order_id: "1", ...fields })], more));
  const readResults = () => readEmailResults(harness());
  const rows = () => harness().database.db.selectFrom("mails").selectAll().orderBy("id").execute();

  it("queue one email per product, regardless of quantity, due 14 days after the order", async () => {
    const products = { teapot: anOrderedProduct({ quantity: 3 }), pan: anOrderedProduct() };
    await createOrder({ email: "Ännchen@Mail.example", order_date: "2026-03-10", products });
    const emails = await rows();
    expect(await readResults()).toEqual({ "1/teapot": "queued", "1/pan": "queued" });
    for (const email of emails) {
      expect(email).toMatchObject({
        category: "map",
        email_type_id: 1,
        email: "Ännchen@Mail.example",
        email_key: "ännchen@mail.example",
        name: "Ann",
        data: "{}",
        due_at: at("2026-03-24"),
        attempts: 0,
        sent_at: null,
        reason: null,
      });
    }
  });

  it("also queue emails for single orders, due relative to the request if the order has no date", async () => {
    const { order_date: _date, ...order } = anOrder({ order_id: "1" });
    await service.orders.create({ ...order, platform: "general" });
    expect((await rows()).map(({ due_at }) => due_at)).toEqual([harness().clock() + 14 * 86_400_000]);
    await service.orders.create({ ...anOrder({ order_id: "2" }), platform: "general", send_mail: false });
    expect(await readResults()).toEqual({ "1/teapot": "queued" });
  });

  it("queue emails once, and on a repeated order only for its new products", async () => {
    await createOrder({});
    await createOrder({});
    await createOrder({ email: "ANN@mail.example", products: orderedProducts("teapot", "pan") });
    expect(await readResults()).toEqual({ "1/teapot": "queued", "1/pan": "queued" });
    // An order keeps its original spelling of the address.
    expect((await rows()).map(({ email }) => email)).toEqual(["ann@mail.example", "ann@mail.example"]);
    await createOrder({ products: { teapot: anOrderedProduct({ quantity: 4 }) } });
    expect(await rows()).toHaveLength(2);
  });

  it("queue no emails on request, nor later for the products added that way", async () => {
    await createOrder({}, { send_mail: false });
    expect(await readResults()).toEqual({});
    await createOrder({}, { send_mail: true });
    expect(await readResults()).toEqual({});
    await createOrder({ products: orderedProducts("teapot", "pan") }, { send_mail: true });
    expect(await readResults()).toEqual({ "1/pan": "queued" });
    await createOrder({ products: orderedProducts("teapot", "pan", "cup") }, { send_mail: false });
    expect(await readResults()).toEqual({ "1/pan": "queued" });
  });

  it("queue one email per order in a new account", async () => {
    ({ service } = await harness().newAccount());
    await createOrder({ products: orderedProducts("teapot", "pan") });
    expect(await readResults()).toEqual({ "1/*": "queued" });
  });

  it("queue one email per order, with the configured delay, if the account enables it", async () => {
    await service.emailRules.set({ name: "one_mail_per", value: null });
    await service.emailRules.set({ name: "due_after_days", value: 0 });
    const order_date = "2026-03-10";
    await createOrder({ order_date, products: orderedProducts("teapot", "pan") });
    await createOrder({ order_date, products: orderedProducts("teapot", "pan", "cup") });
    expect(await readResults()).toEqual({ "1/*": "queued" });
    expect((await rows()).map(({ due_at }) => due_at)).toEqual([at("2026-03-10")]);
    // Queued emails stay unchanged.
    await service.emailRules.set({ name: "one_mail_per", value: "product" });
    await createOrder({ order_date, products: orderedProducts("teapot", "pan", "lid") });
    expect(await readResults()).toEqual({ "1/*": "queued", "1/lid": "queued" });
  });

  it("return the number of queued emails and the first due day if send_mail is set", async () => {
    const order = (id: string, order_date: string) => anOrder({ order_id: id, order_date });
    const call = bulkOrders([order("1", "2026-03-10"), order("2", "2026-03-08"), order("3", "2025-12-01")]);
    expect(await service.orders.massCreate(call)).not.toHaveProperty("mails");
    const { mails } = await service.orders.massCreate({ ...call, send_mail: true });
    // A repeated request returns the same result, and overdue emails are sent today.
    expect(mails).toEqual({ queued: 3, first_due: "2026-03-15" });
    await evaluateDueEmails(harness());
    expect((await service.orders.massCreate({ ...call, send_mail: true })).mails).toEqual({
      queued: 2,
      first_due: "2026-03-22",
    });
    const none = bulkOrders([{ ...order("4", "no day"), products: {} }], { send_mail: true });
    expect((await service.orders.massCreate(none)).mails).toEqual({ queued: 0, first_due: null });
  });

  it("have a forecast that matches the later decisions", async () => {
    await service.unsubscribers.massCreate({ email_list: { 1: ["p3@mail.example"] } });
    const past = { created_at: "2025-12-01", reviewer_type: "verified_buyer" as const };
    await service.reviews.createNow(aReview({ sku: "a", email: "p4@mail.example", past }));
    await service.orders.cancelEmails({ orders: [{ order_id: "o5" }] });
    const id = await readAccountId(harness(), account);
    for (const n of [1, 2, 3]) await recordSent(harness(), id, "p1@mail.example", at(`2026-03-0${n}`));
    const ids = ["a", "b", "c"];
    const orders = Array.from({ length: 12 }, (_, n) =>
      anOrder({
        order_id: `o${n}`,
        email: `p${n % 6}@mail.example`,
        order_date: n === 8 ? "2024-01-01" : "2026-03-01",
        products: orderedProducts(...ids.slice(0, 1 + (n % 3))),
      }),
    );
    await service.orders.massCreate(bulkOrders(orders));
    const { mails, not_sent, days } = await service.emails.forecast({});
    const decided: Record<string, number> = { leased: 0 };
    for (const state of Object.values(await evaluateDueEmails(harness()))) decided[state] = (decided[state] ?? 0) + 1;
    expect({ leased: mails, ...not_sent }).toMatchObject(decided);
    expect(days).toEqual([{ day: "2026-03-15", mails }]);
    expect(decided).toMatchObject({
      order_too_old: 3,
      unsubscribed: 2,
      mails_stopped: 3,
      reviewed_lately: 2,
      too_many_to_person: 2,
    });
  });

  it("have a forecast that excludes decided emails and counts queued ones toward the limit", async () => {
    await createOrder({ order_date: "2026-03-01", products: orderedProducts("a", "b", "c", "d") });
    expect((await service.emails.forecast({})).mails).toBe(4);
    const { purchases } = await service.orders.list({ count: 10 });
    const since_purchase_id = Math.max(...purchases.map(({ id }) => id)) + 1;
    const order = anOrder({ order_id: "2", order_date: "2026-03-02", products: orderedProducts("e", "f") });
    await service.orders.massCreate(bulkOrders([order], { send_mail: false }));
    const forecast = await service.emails.forecast({ since_purchase_id });
    expect(forecast).toMatchObject({ mails: 1, people: 1, not_sent: { too_many_to_person: 1 } });
    await evaluateDueEmails(harness());
    await harness()
      .database.db.updateTable("mails")
      .set({ state: "sent", sent_at: harness().clock(), leased_until: null })
      .execute();
    expect(await service.emails.forecast({ since_purchase_id })).toEqual(forecast);
    expect(await service.emails.forecast({})).toEqual(forecast);
  });

  it("have a forecast that follows the account's rules", async () => {
    await createOrder(
      { order_date: "2026-01-01", products: orderedProducts("a", "b", "c", "d", "e", "f") },
      { send_mail: false },
    );
    const read = async () => {
      const { mails, not_sent } = await service.emails.forecast({});
      return [mails, not_sent.too_many_to_person, not_sent.order_too_old, not_sent.requests_off];
    };
    expect(await read()).toEqual([5, 1, 0, 0]);
    await service.emailRules.set({ name: "most_mails_to_person", value: 2 });
    expect(await read()).toEqual([2, 4, 0, 0]);
    await service.emailRules.set({ name: "too_many_to_person", value: false });
    expect(await read()).toEqual([6, 0, 0, 0]);
    await service.emailRules.set({ name: "one_mail_per", value: "order" });
    expect(await read()).toEqual([1, 0, 0, 0]);
    await service.emailRules.set({ name: "oldest_order_months", value: 2 });
    expect(await read()).toEqual([0, 0, 6, 0]);
    await service.emailRules.set({ name: "order_too_old", value: false });
    await service.emailRules.set({ name: "send_review_requests", value: false });
    expect(await read()).toEqual([0, 0, 0, 6]);
  });

  it("queue no email if a review of the product was verified by a link", async () => {
    await service.reviews.create(aReview({ email: "ann@mail.example" }));
    await service.links.follow({ token: await lastToken(harness(), "verify_url") });
    await createOrder({ order_date: "2026-03-01" });
    expect(await evaluateDueEmails(harness())).toEqual({ "1/teapot": "reviewed_lately" });
  });
});
