import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBrand } from "../../../../../src/contract/index.ts";
import { createLocalTransport } from "../../../../../src/engine/local-transport.ts";
import { giveUpAfterMs, retryDelaysMs } from "../../../../../src/engine/emails/sending/retries.ts";
import { renderOutgoing } from "../../../../../src/email/templates/render-email.ts";
import { createEmailQueue, type EmailQueue } from "../../../../../src/engine/emails/sending/email-queue.ts";
import { createSealer } from "../../../../../src/engine/kernel/sealer.ts";
import { engines, type Harness, startMs, type TestAccount } from "../../../../support/backends.ts";
import { anOrder, bulkOrders } from "../../../../support/builders.ts";
import { readEmailCounts } from "../../../../support/emails.ts";
import { postgresServer, postgresSkipped } from "../../../../support/postgres.ts";

const leaseMs = 60_000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

if (postgresServer === undefined) it.skip(`due emails over ${postgresSkipped}`);

describe.each(engines)("due emails over $name", ({ open }) => {
  let harness: Harness;
  let account: TestAccount;

  beforeEach(async () => {
    harness = await open();
    account = await harness.newAccount("Ann's Shop");
  });

  afterEach(() => harness.close());

  /** Creates a worker with its own queue, as in another process. */
  function worker(name: string, settings: { readonly publicUrl?: string } = {}): EmailQueue {
    const { publicUrl = "https://reviews.example" } = settings;
    const { work } = createLocalTransport({
      database: harness.database,
      clock: harness.clock,
      random: randomBytes,
      sealer: createSealer(Buffer.alloc(32, 7)),
      enforceLimits: false,
      publicUrl: () => publicUrl,
    });
    return createEmailQueue(work, { worker: name, leaseMs });
  }

  /** Inserts emails without an order that are due now. */
  async function queueMails(count: number, domain = "mail.example"): Promise<void> {
    for (let at = 1; at <= count; at++) await account.service.emails.sendTest({ email: `p${at}@${domain}` });
  }

  async function orderFrom(fields: Record<string, unknown> = {}): Promise<void> {
    const pot = { name: "Teapot", url: "https://shop.example/pot", image: "https://shop.example/pot.png" };
    const bea = { email: "Bea@Mail.example", customer_name: "Bea Buyer", products: { pot } };
    await account.service.orders.massCreate(bulkOrders([anOrder({ ...bea, ...fields })]));
  }

  const readRows = () => harness.database.db.selectFrom("mails").selectAll().orderBy("id").execute();
  const readEvents = async () =>
    (await harness.database.db.selectFrom("mail_events").select("event").orderBy("id").execute()).map(
      ({ event }) => event,
    );
  const idsOf = ({ emails }: Awaited<ReturnType<EmailQueue["claim"]>>) => emails.map(({ email }) => email.id);
  const accepted = { state: "accepted", answer: "250 ok" } as const;

  it("are claimed by one worker each", async () => {
    await queueMails(6);
    const [one, other] = [worker("one"), worker("other")];
    const claims = await Promise.all([one.claim(3), other.claim(3), one.claim(3), other.claim(3)]);
    const ids = claims.flatMap(idsOf);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
    expect((await readRows()).map(({ state }) => state)).toEqual(Array(6).fill("leased"));
  });

  it("are not claimed early, and nothing is written until then", async () => {
    await orderFrom({ order_date: "2026-03-14" });
    const one = worker("one");
    const before = await readRows();
    expect((await one.claim(10)).emails).toEqual([]);
    expect(await readRows()).toEqual(before);
    const dueAtMs = await one.nextDueAt();
    expect(dueAtMs).toBe(Date.UTC(2026, 2, 28));
    harness.clock.advance((dueAtMs ?? 0) - startMs);
    expect(idsOf(await one.claim(10))).toHaveLength(1);
  });

  it("of a test are sent to the requested address only", async () => {
    await queueMails(1);
    const { emails } = await worker("one", { publicUrl: "https://elsewhere.example" }).claim(10);
    const data = emails[0]?.email.data ?? expect.unreachable();
    expect(data).toMatchObject({
      is_test: true,
      products: [{ name: "Sample product", review_url: expect.stringMatching(/^https:\/\/elsewhere\.example\//) }],
    });
  });

  it("contain the values of the template, with links to the service", async () => {
    await orderFrom();
    const { emails } = await worker("one").claim(10);
    expect(emails).toHaveLength(1);
    const mail = emails[0]?.email ?? expect.unreachable();
    expect(mail).toMatchObject({
      category: "map",
      to: { address: "Bea@Mail.example", name: "Bea Buyer" },
      store: { name: "Ann's Shop", url: "https://shop.example" },
      data: {
        order_id: "1001",
        order_date: "2026-03-01",
        is_test: false,
        products: [
          {
            product_id: "pot",
            name: "Teapot",
            url: "https://shop.example/pot",
            image_url: "https://shop.example/pot.png",
          },
        ],
      },
    });
    expect(mail.openUrl).toBeUndefined();
    expect(mail.template).toBeUndefined();
    expect(mail.unsubscribeUrl).toMatch(/^https:\/\/reviews\.example\/starpost\/v1\/l\//);
    const [product] = mail.data["products"] as readonly { review_url: string }[];
    expect(product?.review_url).toMatch(/^https:\/\/reviews\.example\/starpost\/v1\/r\//);
    expect(await readEmailCounts(harness, "map")).toEqual({ requests: 1 });
  });

  it("track opens and clicks if the account enables it, and use its custom template", async () => {
    await orderFrom();
    const id = (await readRows())[0]?.account_id ?? 0;
    const { db } = harness.database;
    const settings = ["track_opens", "track_clicks"].map((name) => ({
      account_id: id,
      name,
      value: "true",
      updated_at: startMs,
    }));
    await db.insertInto("account_settings").values(settings).execute();
    const template = { subject: "Well?", text: "{{ store.name }}", html: "<p>{{ store.name }}</p>" };
    await db
      .insertInto("mail_templates")
      .values({ account_id: id, category: "map", ...template, updated_at: startMs })
      .execute();
    const { email: mail } = (await worker("one").claim(10)).emails[0] ?? expect.unreachable();
    expect(mail.template).toEqual(template);
    expect(mail.openUrl).toMatch(/^https:\/\/reviews\.example\/starpost\/v1\/o\//);
    const [product] = mail.data["products"] as readonly { review_url: string; url: string }[];
    for (const url of [product?.review_url, product?.url]) expect(url).toContain("/starpost/v1/c/");
    expect(mail.unsubscribeUrl).toContain("/starpost/v1/l/");
  });

  it("have at most 60 kB of HTML with 20 products, also with tracked links", async () => {
    await account.service.emailRules.set({ name: "track_clicks", value: true });
    const products = Array.from({ length: 20 }, (_, at) => {
      const id = `teapot-morning-${at}`;
      const name = `Teapot “Morning”, blue and white, 1.2 l, no. ${at}`;
      return [id, { name, url: `https://shop.example/p/${id}`, image: `https://shop.example/i/${id}.png` }];
    });
    await orderFrom({ products: Object.fromEntries(products) as Record<string, object> });
    const { email } = (await worker("one").claim(10)).emails[0] ?? expect.unreachable();
    const links = { privacy_url: "https://shop.example/privacy", terms_url: "https://shop.example/terms" };
    const logo = { logo_url: `https://reviews.example/${"l".repeat(100)}`, logo_width: 240, logo_height: 60 };
    const brand = createBrand({ postal_address: "Harbor Street ".repeat(20), ...links }, logo);
    const { html, text } = await renderOutgoing({ ...email, brand });
    for (const part of [html, text]) expect(part.match(/\/v1\/c\/[^"\s]*\?score=[1-5]\b/g)).toHaveLength(100);
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(60_000);
  });

  it("are suppressed by rules when due, with the reason", async () => {
    await orderFrom();
    await account.service.unsubscribers.massCreate({ email_list: { "1": ["bea@mail.example"] } });
    const { emails, notSent } = await worker("one").claim(10);
    expect(emails).toEqual([]);
    expect(notSent).toMatchObject([{ category: "map", rule: "unsubscribed" }]);
    expect(await readRows()).toMatchObject([{ state: "not_sent", reason: "unsubscribed", worker: null }]);
    expect(await readEvents()).toEqual(["not_sent", "dropped_unsubscribed"]);
    expect(await readEmailCounts(harness, "map")).toEqual({ repeat_unsubscribes: 1 });
  });

  it("are sent when accepted, and counted once", async () => {
    await queueMails(1);
    const one = worker("one");
    const [id = 0] = idsOf(await one.claim(10));
    expect(await one.step([], id)).toEqual({ results: [], hasBegun: true });
    expect(await readRows()).toMatchObject([{ state: "sending", attempts: 1, worker: "one" }]);
    expect(await one.step([{ id, outcome: accepted }])).toEqual({ results: ["sent"], hasBegun: false });
    expect(await readRows()).toMatchObject([
      { state: "sent", sent_at: startMs, worker: null, leased_until: null, reason: null },
    ]);
    expect(await readEmailCounts(harness, "map")).toEqual({ requests: 1, delivered: 1 });
    expect(await one.step([{ id, outcome: accepted }])).toMatchObject({ results: ["lost"] });
    expect(await one.nextDueAt()).toBeUndefined();
  });

  it("are available again when released", async () => {
    await queueMails(3);
    const [one, other] = [worker("one"), worker("other")];
    await one.claim(3);
    expect(await other.claim(3)).toMatchObject({ emails: [] });
    await one.release();
    expect((await readRows()).map(({ state, worker: holder }) => [state, holder])).toEqual(
      Array.from({ length: 3 }, () => ["queued", null]),
    );
    expect(idsOf(await other.claim(3))).toHaveLength(3);
  });

  it("are claimed over from a lost worker, which then cannot change them", async () => {
    await queueMails(2);
    const [one, other] = [worker("one"), worker("other")];
    const [first = 0] = idsOf(await one.claim(2));
    expect(await other.nextDueAt()).toBe(startMs + leaseMs);
    harness.clock.advance(leaseMs - 1);
    expect((await other.claim(2)).emails).toEqual([]);
    harness.clock.advance(1);
    const claimed = await other.claim(2);
    expect(idsOf(claimed)).toHaveLength(2);
    expect(claimed.recovered).toBe(2);
    expect(claimed.emails.map(({ previousWorker }) => previousWorker)).toEqual([undefined, undefined]);
    expect(await one.step([], first)).toEqual({ results: [], hasBegun: false });
    expect(await other.step([], first)).toEqual({ results: [], hasBegun: true });
  });

  it("stay claimed while the lease is renewed", async () => {
    await queueMails(2);
    const [one, other] = [worker("one"), worker("other")];
    const [first = 0] = idsOf(await one.claim(2));
    await one.step([], first);
    for (let renewals = 0; renewals < 10; renewals++) {
      harness.clock.advance(leaseMs / 3);
      await one.renew();
      expect((await other.claim(2)).emails).toEqual([]);
    }
    expect(await one.step([{ id: first, outcome: accepted }])).toMatchObject({ results: ["sent"] });
  });

  it("are marked as possibly sent if the worker was lost while sending", async () => {
    await queueMails(2);
    const [one, other, third] = [worker("one"), worker("other"), worker("third")];
    const [first = 0] = idsOf(await one.claim(2));
    await one.step([], first);
    harness.clock.advance(leaseMs);
    const claimedUp = await other.claim(1);
    expect(claimedUp.emails).toMatchObject([{ email: { id: first }, previousWorker: "one" }]);
    expect(claimedUp.recovered).toBe(0);
    expect(await readEvents()).toContain("taken_up");
    // Releasing it does not clear the mark.
    await other.release();
    const [again] = (await third.claim(1)).emails;
    expect(again).toMatchObject({ email: { id: first }, previousWorker: "other" });
    expect(again?.email.key).toBe(claimedUp.emails[0]?.email.key);
    // The first worker returns too late to change anything.
    expect(await one.step([{ id: first, outcome: accepted }])).toMatchObject({ results: ["lost"] });
    expect(await third.step([{ id: first, outcome: accepted }])).toMatchObject({ results: ["sent"] });
    expect((await readRows())[0]).toMatchObject({ state: "sent", attempts: 1 });
  });

  it("that may have been sent are not sent again if a rule applies by then", async () => {
    await orderFrom();
    const [one, other] = [worker("one"), worker("other")];
    const [id = 0] = idsOf(await one.claim(1));
    await one.step([], id);
    const { account_id, email_key } = (await readRows())[0] ?? expect.unreachable();
    await harness.database.db
      .insertInto("mail_suppressions")
      .values({ account_id, email_key, kind: "spamreports", mail_row: id, created_at: startMs })
      .execute();
    harness.clock.advance(leaseMs);
    const { emails, notSent } = await other.claim(1);
    expect(notSent).toEqual([]);
    expect(emails).toMatchObject([{ previousWorker: "one", rule: "reported_spam" }]);
    const outcome = { state: "not_sent", rule: "reported_spam" } as const;
    expect(await other.step([{ id, outcome }])).toMatchObject({ results: ["not_sent"] });
    expect(await readEmailCounts(harness, "map")).toEqual({ requests: 1, repeat_spamreports: 1 });
  });

  it("wait longer after each deferral, and fail after three days", async () => {
    await queueMails(1);
    const one = worker("one");
    const waits: number[] = [];
    const putOff = { state: "deferred", answer: "450 4.2.0 later" } as const;
    for (let fate = "deferred"; fate === "deferred";) {
      const [id = 0] = idsOf(await one.claim(1));
      await one.step([], id);
      ({
        results: [fate = "none"],
      } = await one.step([{ id, outcome: putOff }]));
      const nextAtMs = await one.nextDueAt();
      if (nextAtMs === undefined) break;
      waits.push(nextAtMs - harness.clock());
      harness.clock.advance(nextAtMs - harness.clock());
    }
    expect(waits.slice(0, 6)).toEqual([minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 4 * hourMs, 12 * hourMs]);
    expect(waits.slice(0, 6)).toEqual(retryDelaysMs);
    expect(waits.slice(6, -1).every((ms) => ms === 12 * hourMs)).toBe(true);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(giveUpAfterMs);
    expect(giveUpAfterMs).toBe(3 * dayMs);
    expect(await readRows()).toMatchObject([
      { state: "failed", reason: "450 4.2.0 later", attempts: waits.length + 1 },
    ]);
    expect((await readEvents()).at(-1)).toBe("failed");
    expect(await readEmailCounts(harness, "map")).toEqual({ requests: 1 });
  });

  it.each([
    ["bounced", { isOfAddress: true }, { requests: 1, bounces: 1 }, 1],
    // A message that is too large does not affect the next one.
    ["bounced", { isOfAddress: false }, { requests: 1, bounces: 1 }, 0],
    ["blocked", {}, { requests: 1, blocked: 1 }, 0],
    ["invalid_address", { isOfAddress: true }, { requests: 1, invalid_email: 1 }, 1],
    // Another server may accept what this one rejects.
    ["invalid_address", {}, { requests: 1, invalid_email: 1 }, 0],
  ] as const)("that end as %s %j are final", async (state, more, counts, suppressions) => {
    await queueMails(1);
    const one = worker("one");
    const [id = 0] = idsOf(await one.claim(1));
    await one.step([], id);
    const outcome = { state, answer: "550 5.1.1 \0no", ...more };
    expect(await one.step([{ id, outcome }])).toMatchObject({ results: ["bounced"] });
    expect(await readRows()).toMatchObject([{ state: "bounced", reason: "550 5.1.1  no" }]);
    expect(await readEmailCounts(harness, "map")).toEqual(counts);
    const kept = await harness.database.db.selectFrom("mail_suppressions").selectAll().execute();
    expect(kept).toHaveLength(suppressions);
    if (suppressions === 0) return;
    await queueMails(1);
    expect((await one.claim(1)).notSent).toMatchObject([{ rule: "bounced_before" }]);
  });

  it("do not count an attempt if the server could not be reached", async () => {
    await queueMails(1);
    const one = worker("one");
    const [id = 0] = idsOf(await one.claim(1));
    const before = await readEvents();
    await one.step([], id);
    expect(await one.step([{ id, outcome: { state: "unreachable" } }])).toMatchObject({ results: ["waiting"] });
    expect(await readRows()).toMatchObject([{ state: "queued", attempts: 0, due_at: startMs, worker: null }]);
    expect(await readEvents()).toEqual(before);
  });

  it("are deferred and marked as possibly sent if the response was lost", async () => {
    await queueMails(1);
    const [one, other] = [worker("one"), worker("other")];
    const [id = 0] = idsOf(await one.claim(1));
    await one.step([], id);
    const outcome = { state: "unreachable", mayHaveArrived: true } as const;
    expect(await one.step([{ id, outcome }])).toMatchObject({ results: ["waiting"] });
    expect((await other.claim(1)).emails).toEqual([]);
    expect(await other.nextDueAt()).toBe(startMs + (retryDelaysMs[0] ?? 0));
    harness.clock.advance(retryDelaysMs[0] ?? 0);
    expect((await other.claim(1)).emails).toMatchObject([{ email: { id }, previousWorker: "one" }]);
    // The next worker cannot even reach the server.
    await other.step([{ id, outcome: { state: "unreachable", wasTakenUp: true } }]);
    expect((await one.claim(1)).emails).toMatchObject([{ email: { id }, previousWorker: "other" }]);
    expect(await readRows()).toMatchObject([{ state: "sending", attempts: 1 }]);
  });

  it("fail after three days if each response is lost, without blocking other emails", async () => {
    await queueMails(2);
    const one = worker("one");
    const lost = { state: "unreachable", mayHaveArrived: true } as const;
    const claimed = [];
    for (const endMs = startMs + giveUpAfterMs; harness.clock() <= endMs;) {
      const [id] = idsOf(await one.claim(1));
      if (id === undefined) break;
      claimed.push(id);
      await one.step([], id);
      await one.step([{ id, outcome: id === claimed[0] ? lost : accepted }]);
      harness.clock.advance(((await one.nextDueAt()) ?? harness.clock()) - harness.clock());
    }
    expect(claimed[1]).not.toBe(claimed[0]);
    // Each attempt may have sent the message.
    expect(claimed.length).toBeLessThan(16);
    expect(await readRows()).toMatchObject([
      { state: "failed", reason: expect.any(String), worker: null },
      { state: "sent" },
    ]);
  });

  it("yield to the next email if the server closes the connection during one", async () => {
    await queueMails(2);
    const one = worker("one");
    const [first = 0] = idsOf(await one.claim(1));
    await one.step([], first);
    harness.clock.advance(1);
    await one.step([{ id: first, outcome: { state: "unreachable" } }]);
    expect(idsOf(await one.claim(1))).not.toEqual([first]);
    expect(idsOf(await one.claim(1))).toEqual([first]);
  });

  it("fail with the reason if they cannot be composed, without blocking other emails", async () => {
    await queueMails(2);
    const one = worker("one");
    const [first = 0, second = 0] = idsOf(await one.claim(2));
    const failed = { state: "failed", problem: "the template is broken" } as const;
    expect(await one.step([{ id: first, outcome: failed }], second)).toEqual({ results: ["failed"], hasBegun: true });
    expect(await readRows()).toMatchObject([
      { state: "failed", reason: "the template is broken", attempts: 0 },
      { state: "sending" },
    ]);
  });

  it("obey the limit per recipient for any number of workers", async () => {
    for (let at = 0; at < 8; at++) await orderFrom({ order_id: `100${at}` });
    const [one, other] = [worker("one"), worker("other")];
    const claims = [await one.claim(4), await other.claim(4)];
    expect(claims.flatMap(idsOf)).toHaveLength(5);
    expect(claims.flatMap(({ notSent }) => notSent.map(({ rule }) => rule))).toEqual(
      Array(3).fill("too_many_to_person"),
    );
  });
});
