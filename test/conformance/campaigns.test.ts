import { beforeEach, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, bulkOrders } from "../support/builders.ts";
import { createWorker, readAccountId, sendDueEmails } from "../support/due-emails.ts";

const [secondMs, hourMs, dayMs] = [1_000, 3_600_000, 86_400_000];
const products = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, anOrderedProduct()]));

describeIsolated("campaigns", (harness: () => Harness) => {
  let account: TestAccount;
  let service: Service;

  beforeEach(async () => {
    account = await harness().newAccount("Tea Shop");
    service = account.service;
  });

  const createOrders = (...orders: NonNullable<Parameters<typeof anOrder>[0]>[]) =>
    service.orders.massCreate(
      bulkOrders(
        orders.map((order) => anOrder(order)),
        { send_mail: false },
      ),
    );
  const manyOrders = (count: number) =>
    createOrders(...Array.from({ length: count }, (_, at) => ({ order_id: `${at}`, email: `p${at}@mail.example` })));
  const plan = { category: "custom_map", emails_per_hour: 3_600, since_date: "2020-01-01T00:00:00.000Z" } as const;
  const start = (more: Partial<Parameters<Service["campaigns"]["create"]>[0]> = {}) =>
    service.campaigns.create({ name: "Autumn", ...plan, ...more });
  const id = async () => (await service.campaigns.list({})).campaigns[0]?.id ?? 0;
  const progress = async () => service.campaigns.get({ campaign_id: await id() });
  const send = async () =>
    (await sendDueEmails(harness())).map(({ to, data }) => {
      const listed = (data["products"] ?? []) as { product_id: string }[];
      return `${to.address} ${listed.map(({ product_id }) => product_id).join(" ")}`;
    });
  /** Sends everything, as time passes. */
  const sendAll = async (seconds: number) => {
    const sent: string[] = [];
    for (let second = 0; second < seconds; second++) {
      sent.push(...(await send()));
      harness().clock.advance(secondMs);
    }
    return sent;
  };

  it("send emails about chosen orders at the given rate, once", async () => {
    await manyOrders(25);
    expect(await service.campaigns.forecast(plan)).toMatchObject({
      orders: 25,
      past_orders: 25,
      mails: 25,
      people: 25,
      hours: 25 / 3_600,
      asked_before: 0,
      not_found: [],
    });
    await start();
    expect(await send()).toEqual(["p0@mail.example teapot"]);
    expect((await progress()).emails).toMatchObject({ sent: 1, queued: 9 });
    const sent = await sendAll(40);
    expect(new Set(sent).size).toBe(24);
    expect(sent).toHaveLength(24);
    expect(await progress()).toMatchObject({ campaign: { state: "done" }, emails: { sent: 25, queued: 0 } });
    const day = "2026-03-15";
    const stats = await service.emails.stats({
      since_date: day,
      to_date: day,
      categories: "custom_map",
      aggregate: "day",
    });
    expect(stats["custom_map"]?.[`${day},${day}`]).toMatchObject({ requests: 25 });
  });

  it("that are stopped hold their emails, and continue at their rate when they are resumed", async () => {
    await manyOrders(30);
    await start();
    const first = await sendAll(3);
    // A worker has claimed an email, and is lost.
    harness().clock.advance(5 * secondMs);
    await createWorker(harness(), "lost").claim(2);
    const stopped = await service.campaigns.stop({ campaign_id: await id() });
    expect(stopped).toMatchObject({ campaign: { state: "stopped" }, emails: { sent: 3, queued: 7, leased: 0 } });
    harness().clock.advance(hourMs);
    expect(await send()).toEqual([]);
    await service.campaigns.resume({ campaign_id: await id() });
    await service.campaigns.resume({ campaign_id: await id() });
    const second = await sendAll(10);
    expect(second).toHaveLength(10);
    const rest = await sendAll(40);
    expect(new Set([...first, ...second, ...rest]).size).toBe(30);
    expect([...first, ...second, ...rest]).toHaveLength(30);
    await service.campaigns.stop({ campaign_id: await id() });
    expect(await progress()).toMatchObject({ campaign: { state: "done" } });
  });

  it("do not catch up after the worker was away", async () => {
    await manyOrders(60);
    await start();
    await send();
    harness().clock.advance(hourMs);
    const sent = await send();
    expect(sent.length).toBeLessThanOrEqual(11);
  });

  it("choose orders by date, product, ID, and customer", async () => {
    await createOrders(
      { order_id: "1", order_date: "2026-01-10", products: products("teapot", "pan") },
      { order_id: "2", order_date: "2026-02-10", email: "bo@mail.example", products: products("pan") },
      { order_id: "3", order_date: "2026-03-10", email: "cy@mail.example", products: products("cup") },
    );
    const base = { category: "custom_map", emails_per_hour: 3_600_000 } as const;
    const forecast = async (chosen: Partial<Parameters<Service["campaigns"]["forecast"]>[0]>) => {
      const { mails, not_found } = await service.campaigns.forecast({ ...base, ...chosen });
      return [mails, ...not_found];
    };
    const [since_date, until_date] = ["2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"];
    expect(await forecast({ since_date })).toEqual([2]);
    expect(await forecast({ since_date, until_date })).toEqual([1]);
    expect(await forecast({ product_ids: ["pan"] })).toEqual([2]);
    expect(await forecast({ order_ids: ["1", "3", "4"] })).toEqual([2, "4"]);
    expect(await forecast({ emails: ["BO@mail.example", "no@mail.example"] })).toEqual([1, "no@mail.example"]);
    await expect(forecast({})).rejects.toMatchObject({ kind: "invalidParams" });
    await service.campaigns.create({ name: "pans", ...base, product_ids: ["pan"] });
    await expect(service.campaigns.create({ name: "pans", ...base, since_date })).rejects.toThrow();
    expect((await sendAll(2)).toSorted()).toEqual(["ann@mail.example pan", "bo@mail.example pan"]);
    await service.campaigns.create({ name: "listed", ...base, order_ids: ["1", "3"] });
    expect((await sendAll(2)).toSorted()).toEqual(["ann@mail.example teapot", "cy@mail.example cup"]);
    expect(await service.campaigns.forecast({ ...base, emails: ["ann@mail.example"] })).toMatchObject({
      mails: 0,
      asked_before: 1,
    });
  });

  it("ask nobody twice about a product", async () => {
    await createOrders(
      { order_id: "1", products: products("teapot", "pan") },
      { order_id: "2", email: "ANN@mail.example", products: products("teapot", "cup") },
      { order_id: "3", products: products("pan") },
    );
    expect(await service.campaigns.forecast(plan)).toMatchObject({ mails: 2, asked_before: 1 });
    await start({ emails_per_hour: 3_600_000 });
    expect(await sendAll(2)).toEqual(["ann@mail.example teapot pan", "ANN@mail.example cup"]);
  });

  it("ask customers about the store, once", async () => {
    await createOrders(
      { order_id: "1", products: products("teapot", "pan") },
      { order_id: "2", products: products("cup") },
      { order_id: "3", email: "bo@mail.example" },
      { order_id: "4", email: "cy@mail.example" },
    );
    await service.unsubscribers.massCreate({ email_list: { 2: ["cy@mail.example"] } });
    const shop = { ...plan, category: "testimonials_request" } as const;
    expect(await service.campaigns.forecast(shop)).toMatchObject({
      mails: 2,
      asked_before: 1,
      not_sent: { unsubscribed: 1 },
    });
    await start({ ...shop, emails_per_hour: 3_600_000 });
    const site = "service_site_reviews";
    expect(await sendAll(2)).toEqual([`ann@mail.example ${site}`, `bo@mail.example ${site}`]);
    expect((await service.campaigns.forecast(shop)).mails).toBe(0);
    expect((await service.campaigns.forecast(plan)).mails).toBe(4);
  });

  it("follow the rules", async () => {
    const people = ["ok", "unsubscribed", "other", "stopped"];
    await createOrders(...people.map((name) => ({ order_id: name, email: `${name}@mail.example` })));
    await service.unsubscribers.massCreate({
      email_list: { 15: ["unsubscribed@mail.example"], 1: ["other@mail.example"] },
    });
    await service.orders.cancelEmails({ orders: [{ order_id: "stopped" }] });
    const expected = { unsubscribed: 1, mails_stopped: 1 };
    expect(await service.campaigns.forecast(plan)).toMatchObject({ not_sent: expected });
    await start({ emails_per_hour: 3_600_000 });
    await sendAll(3);
    expect(await progress()).toMatchObject({ not_sent: expected });
    await service.emailRules.set({ name: "send_review_requests", value: false });
    expect((await service.campaigns.forecast({ ...plan, order_ids: ["ok"] })).mails).toBe(0);
  });

  it("ask about old orders only if they are chosen by date or one by one", async () => {
    await createOrders({ order_id: "old", order_date: "2024-01-10" });
    const base = { category: "custom_map", emails_per_hour: 60 } as const;
    expect(await service.campaigns.forecast({ ...base, product_ids: ["teapot"] })).toMatchObject({
      mails: 0,
      not_sent: { order_too_old: 1 },
    });
    await start({ order_ids: ["old"] });
    expect(await send()).toEqual(["ann@mail.example teapot"]);
  });

  it("wait while their emails are held, and resend what did not arrive", async () => {
    await manyOrders(30);
    const accountId = await readAccountId(harness(), account);
    await harness()
      .database.db.updateTable("email_permissions")
      .set({ daily_quota: 5 })
      .where("account_id", "=", accountId)
      .execute();
    await start();
    expect(await sendAll(60)).toHaveLength(5);
    const { emails } = await progress();
    expect(emails.queued).toBeLessThanOrEqual(20);
    harness().clock.advance(dayMs);
    expect(await sendAll(60)).toHaveLength(5);
    const { mails } = await service.emails.list({ state: "sent", category: "custom_map", count: 1 });
    const resent = await service.emails.resend({ mail_ids: [mails[0]?.id ?? 0] });
    expect(resent.mails).toMatchObject([{ problem: null, rule: null, mail: { category: "custom_map" } }]);
    const { mails: copies } = await service.emails.list({ category: "resend_custom_map" });
    expect(copies).toHaveLength(1);
    await service.unsubscribers.massCreate({ email_list: { 15: [copies[0]?.email ?? ""] } });
    harness().clock.advance(dayMs);
    await sendAll(1);
    expect((await service.emails.list({ category: "resend_custom_map" })).mails).toMatchObject([
      { state: "not_sent", reason: "unsubscribed" },
    ]);
  });
});
