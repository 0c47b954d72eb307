import { expect, it } from "vitest";
import { maxDeliveriesPerCall, maxWebhooks, type WebhookEvent } from "../../src/contract/index.ts";
import { describeIsolated, startMs, type Harness } from "../support/backends.ts";
import { aReview, anOrder, bulkOrders } from "../support/builders.ts";
import { invalidField } from "../support/service-errors.ts";
import { dayMs } from "../../src/contract/time.ts";
import { aQuestion, lastToken } from "../support/emails.ts";

const unused = { last_success_at: null, failures_24h: 0, next_attempt_at: null };
const hook = { url: "https://shop.example/hook", event_name: "review_create" } as const;

describeIsolated("webhooks", (harness) => {
  it("creates, lists, and deletes a subscription, and shows its secret only on creation", async () => {
    const { service } = await harness().newAccount();
    const { webhook } = await service.webhooks.create(hook);
    const { secret, ...shown } = webhook;
    expect(shown).toEqual({ id: expect.any(Number), ...hook, created_at: new Date(startMs).toISOString() });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(Buffer.from(secret.slice("whsec_".length), "base64")).toHaveLength(24);
    const second = await service.webhooks.create({ ...hook, event_name: "review_updated" });
    expect(second.webhook.secret).not.toBe(secret);
    const { secret: _secret, ...other } = second.webhook;
    expect(await service.webhooks.list({})).toEqual({
      webhooks: [
        { ...shown, ...unused },
        { ...other, ...unused },
      ],
    });
    expect(await service.webhooks.delete({ webhook_id: shown.id })).toEqual({});
    expect(await service.webhooks.list({})).toEqual({ webhooks: [{ ...other, ...unused }] });
  });

  it("stores no readable secret", async () => {
    const { service } = await harness().newAccount();
    const { webhook } = await service.webhooks.create(hook);
    const stored = await harness().database.db.selectFrom("webhooks").selectAll().executeTakeFirstOrThrow();
    expect(JSON.stringify(stored)).not.toContain(webhook.secret.slice("whsec_".length));
  });

  it("returns the existing subscription, and a new one after its deletion", async () => {
    const { service } = await harness().newAccount();
    const first = await service.webhooks.create(hook);
    harness().clock.advance(1_000);
    expect(await service.webhooks.create(hook)).toEqual(first);
    expect((await service.webhooks.list({})).webhooks).toHaveLength(1);
    await service.webhooks.delete({ webhook_id: first.webhook.id });
    const { webhook } = await service.webhooks.create(hook);
    expect(webhook.id).toBeGreaterThan(first.webhook.id);
    expect(webhook.secret).not.toBe(first.webhook.secret);
  });

  it("sends an event to all of its subscriptions under one event ID", async () => {
    const { service } = await harness().newAccount();
    const ids: number[] = [];
    for (const url of ["https://a.example/", "https://b.example/"]) {
      ids.push((await service.webhooks.create({ ...hook, url })).webhook.id);
    }
    await service.webhooks.create({ ...hook, event_name: "review_updated" });
    await service.reviews.create(aReview());
    await service.reviews.create(aReview());
    const deliveries = await harness()
      .database.db.selectFrom("webhook_deliveries")
      .select(["webhook_row", "event_id", "state", "due_at"])
      .orderBy("id")
      .execute();
    expect(deliveries.map(({ webhook_row }) => webhook_row)).toEqual([...ids, ...ids]);
    expect(deliveries).toEqual(deliveries.map((row) => ({ ...row, state: "queued", due_at: startMs })));
    const [a, b, c, d] = deliveries.map(({ event_id }) => event_id);
    expect(a).toMatch(/^evt_[0-9a-f]{32}$/);
    expect([b, d]).toEqual([a, c]);
    expect(c).not.toBe(a);
  });

  it("returns recordNotFound for an unknown subscription ID", async () => {
    const { service } = await harness().newAccount();
    for (const webhook_id of [0, 1, 999_999_999_999_999]) {
      await expect(service.webhooks.delete({ webhook_id })).rejects.toMatchObject({ kind: "recordNotFound" });
    }
  });

  it("accepts only URLs that can be called", async () => {
    const { service } = await harness().newAccount();
    const create = (url: string) => service.webhooks.create({ ...hook, url });
    for (const url of [
      "shop.example/hook",
      "ftp://shop.example/hook",
      "javascript:alert(1)",
      "https://",
      "https://[::1",
      "https://shop.example:99999/",
      `https://shop.example/${"ü".repeat(1_500)}`,
      `https://shop.example/${"x".repeat(2_048)}`,
    ]) {
      await expect(create(url), url).rejects.toMatchObject({ kind: "invalidParams" });
    }
    const longest = `https://shop.example/${Array.from({ length: 2_027 }, (_, at) => at % 10).join("")}`;
    expect((await create(longest)).webhook.url).toBe(longest);
    expect((await create("http://shop.example:8080/hök?a=b")).webhook.url).toBe("http://shop.example:8080/hök?a=b");
    await expect(
      service.webhooks.create({ ...hook, event_name: "order_create" as "review_create" }),
    ).rejects.toMatchObject(invalidField("event_name", "review_create, review_updated"));
    await expect(service.webhooks.create({ event_name: "review_create" } as never)).rejects.toMatchObject({
      message: "Missing url",
    });
  });

  it("accepts the maximum number of subscriptions, not counting repeated ones", async () => {
    const { service } = await harness().newAccount();
    const create = (at: number) => service.webhooks.create({ ...hook, url: `https://shop.example/${at}` });
    for (let at = 0; at < maxWebhooks; at += 1) await create(at);
    await expect(create(maxWebhooks)).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining(String(maxWebhooks)),
    });
    const { webhook } = await create(0);
    await service.webhooks.delete({ webhook_id: webhook.id });
    expect((await create(maxWebhooks)).webhook.id).toBeGreaterThan(webhook.id);
  });
});

const url = "https://shop.example/hook";

interface Body {
  readonly event: string;
  readonly test?: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The bodies of all deliveries of events, in order. */
async function readBodies({ database }: Harness): Promise<Body[]> {
  const rows = await database.db.selectFrom("webhook_deliveries").select("body").orderBy("id").execute();
  return rows.map(({ body }) => JSON.parse(body) as Body);
}

describeIsolated("webhook events", (harness) => {
  const subscribe = async (...events: WebhookEvent[]) => {
    const account = await harness().newAccount();
    for (const event_name of events) await account.service.webhooks.create({ url, event_name });
    return account.service;
  };

  it("report decisions about reviews, and changes of comments, once each", async () => {
    const service = await subscribe(
      "review_hidden",
      "review_published",
      "review_commented",
      "review_comment_edited",
      "review_comment_deleted",
    );
    await service.reviews.create(aReview());
    const review_id = (await service.reviews.list({})).reviews[0]?.id ?? 0;
    const reason = "spam";
    await service.reviews.setPublished({ review_id, published: false, reason });
    await service.reviews.setPublished({ review_id, published: false, reason });
    await service.reviews.setPublished({ review_id, published: true, reason });
    await service.reviews.comment({ review_id, content: "Thank you" });
    await service.reviews.editComment({ review_id, content: "Thank you!" });
    await service.reviews.deleteComment({ review_id });
    const bodies = await readBodies(harness());
    const created_at = new Date(startMs).toISOString();
    expect(bodies.map(({ event, data }) => [event, data["id"], data["deleted"], data["comment"]])).toEqual([
      ["review_hidden", review_id, true, undefined],
      ["review_published", review_id, false, undefined],
      ["review_commented", review_id, false, { content: "Thank you", created_at }],
      ["review_comment_edited", review_id, false, { content: "Thank you!", created_at }],
      ["review_comment_deleted", review_id, false, null],
    ]);
  });

  it("contain the author's newest order, also if it arrived after the review", async () => {
    const service = await subscribe("review_updated");
    await service.reviews.create(aReview());
    const review_id = (await service.reviews.list({})).reviews[0]?.id ?? 0;
    await service.reviews.comment({ review_id, content: "Thank you" });
    const changes = [
      () => service.reviews.editComment({ review_id, content: "Thank you!" }),
      () => service.reviews.deleteComment({ review_id }),
      () => service.reviews.requeue({ review_id }),
      () => service.reviews.setPublished({ review_id, published: true, reason: "fine" }),
    ];
    for (const [at, change] of changes.entries()) {
      await service.orders.massCreate(bulkOrders([anOrder({ order_id: `${at}`, order_date: `2026-03-0${at + 1}` })]));
      await change();
    }
    const orders = (await readBodies(harness())).map(({ data }) => data["order_id"]);
    expect(orders).toEqual([null, "0", "1", "2", "3"]);
  });

  it("report public questions and answers", async () => {
    const service = await subscribe("question_asked", "question_answered");
    await service.questions.sendConfirmation(aQuestion());
    expect(await readBodies(harness())).toEqual([]);
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    const question_id = (await service.questions.list({ sku: "teapot" })).questions[0]?.id ?? 0;
    await service.answers.create({ question_id, content: "It does." });
    const [asked, answered, ...rest] = await readBodies(harness());
    expect(rest).toEqual([]);
    expect(asked).toMatchObject({ event: "question_asked", data: { id: question_id, product_id: "teapot" } });
    expect(asked?.data).not.toHaveProperty("answer");
    expect(answered).toMatchObject({
      event: "question_answered",
      data: { id: question_id, answer: { content: "It does.", by_store: true } },
    });
  });

  it("report a question that the store publishes for its author, once", async () => {
    const service = await subscribe("question_asked");
    await service.questions.sendConfirmation(aQuestion());
    const question_id = (await service.questions.search({ state: "pending" })).questions[0]?.id ?? 0;
    for (const published of [true, true, false, true]) await service.questions.setPublished({ question_id, published });
    const bodies = await readBodies(harness());
    expect(bodies).toEqual([expect.objectContaining({ event: "question_asked" })]);
    expect(bodies[0]?.data).toMatchObject({ id: question_id, content: aQuestion().review_content });
  });

  it("report new unsubscriptions only", async () => {
    const service = await subscribe("unsubscribed");
    const list = { email_list: { "1": ["Ann@mail.example", "bo@mail.example", "ann@mail.example"], "2": ["x"] } };
    await service.unsubscribers.massCreate(list);
    await service.unsubscribers.massCreate({ email_list: { "1": ["ann@mail.example"], "3": ["ann@mail.example"] } });
    const bodies = await readBodies(harness());
    const fieldsOf = ({ data }: Body) => [
      String(data["email"]).toLowerCase(),
      data["email_type_id"],
      data["email_type"],
    ];
    expect(bodies.map(fieldsOf)).toEqual([
      ["ann@mail.example", 1, "reviews"],
      ["bo@mail.example", 1, "reviews"],
      ["ann@mail.example", 3, "service"],
    ]);
  });

  it("are limited per call", async () => {
    const service = await subscribe("unsubscribed");
    await service.webhooks.create({ url: `${url}/2`, event_name: "unsubscribed" });
    await service.webhooks.create({ url: `${url}/3`, event_name: "unsubscribed" });
    const addresses = Array.from(
      { length: Math.floor(maxDeliveriesPerCall / 3) + 1 },
      (_, at) => `a${at}@mail.example`,
    );
    const unsubscribe = (emails: string[]) => service.unsubscribers.massCreate({ email_list: { "1": emails } });
    await expect(unsubscribe(addresses)).rejects.toMatchObject({ kind: "invalidParams" });
    await unsubscribe(addresses.slice(0, 400));
    expect(await readBodies(harness())).toHaveLength(1_200);
  });

  it("are not created for webhooks that did not ask, or if the change fails", async () => {
    const service = await subscribe("review_hidden");
    await service.unsubscribers.massCreate({ email_list: { "1": ["ann@mail.example"] } });
    await expect(service.reviews.setPublished({ review_id: 1, published: false, reason: "x" })).rejects.toThrow();
    expect(await readBodies(harness())).toEqual([]);
  });

  it("are sent as samples, marked as a test, to all webhooks of the event", async () => {
    const service = await subscribe("question_answered", "review_create");
    await service.webhooks.create({ url: `${url}/2`, event_name: "review_create" });
    const { deliveries } = await service.webhooks.trigger({ event_name: "review_create" });
    expect(deliveries.map((delivery) => delivery.url)).toEqual([url, `${url}/2`]);
    expect(new Set(deliveries.map(({ event_id }) => event_id)).size).toBe(1);
    await service.webhooks.trigger({ event_name: "question_answered" });
    expect(await service.webhooks.trigger({ event_name: "unsubscribed" })).toEqual({ deliveries: [] });
    const bodies = await readBodies(harness());
    expect(bodies).toHaveLength(3);
    for (const { test } of bodies) expect(test).toBe(true);
    await service.reviews.create(aReview());
    const real = (await readBodies(harness())).at(-1);
    expect(real).not.toHaveProperty("test");
    expect(Object.keys(real?.data ?? {})).toEqual(Object.keys(bodies[0]?.data ?? {}));
    expect((await service.reviews.list({})).reviews).toHaveLength(1);
  });

  it("have the fields of their samples, whatever the event", async () => {
    const service = await subscribe("review_commented", "review_comment_deleted", "unsubscribed");
    await service.reviews.create(aReview());
    const review_id = (await service.reviews.list({})).reviews[0]?.id ?? 0;
    await service.reviews.comment({ review_id, content: "Thank you" });
    await service.reviews.deleteComment({ review_id });
    await service.unsubscribers.massCreate({ email_list: { "1": ["ann@mail.example"] } });
    const real = await readBodies(harness());
    for (const { event } of real) await service.webhooks.trigger({ event_name: event as WebhookEvent });
    const samples = (await readBodies(harness())).slice(real.length);
    const keysOf = ({ data }: Body) => [Object.keys(data), data["comment"] && Object.keys(data["comment"])];
    expect(samples.map(keysOf)).toEqual(real.map(keysOf));
  });

  it("count in the health of their webhook", async () => {
    const service = await subscribe("review_create", "review_hidden");
    await service.webhooks.trigger({ event_name: "review_create" });
    const healthOf = async () => {
      const [first, second] = (await service.webhooks.list({})).webhooks;
      expect(second).toMatchObject({ last_success_at: null, failures_24h: 0, next_attempt_at: null });
      return { failures: first?.failures_24h, last: first?.last_success_at, next: first?.next_attempt_at };
    };
    const { db } = harness().database;
    const nowMs = startMs;
    const at = (ms: number) => new Date(ms).toISOString();
    expect(await healthOf()).toEqual({ failures: 0, last: null, next: at(nowMs) });
    const delivery = await db.selectFrom("webhook_deliveries").selectAll().executeTakeFirstOrThrow();
    const attempt = {
      account_id: delivery.account_id,
      delivery_row: delivery.id,
      worker: "w",
      duration_ms: 1,
      status: 500,
    };
    for (const [started_at, problem] of [
      [nowMs - dayMs - 1, "HTTP 500"],
      [nowMs - 1, "HTTP 500"],
      [nowMs - 1, null],
    ] as const) {
      await db
        .insertInto("webhook_attempts")
        .values({ ...attempt, started_at, problem })
        .execute();
    }
    await db
      .updateTable("webhook_deliveries")
      .set({ state: "delivered", delivered_at: nowMs })
      .where("account_id", "=", delivery.account_id)
      .execute();
    expect(await healthOf()).toEqual({ failures: 1, last: at(nowMs), next: null });
  });
});
