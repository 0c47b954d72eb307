import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { retryDelaysMs } from "../../../../src/engine/webhooks/outcomes.ts";
import { createWebhookQueue } from "../../../../src/engine/webhooks/webhook-queue.ts";
import { webhookSlots } from "../../../../src/contract/index.ts";
import { savePrivateWebhooks } from "../../../../src/engine/webhooks/private-webhooks.ts";
import type { Resolve } from "../../../../src/engine/webhooks/checked-request.ts";
import { engines, type Harness, startMs, type TestAccount } from "../../../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../../../support/builders.ts";
import { type Loopback, type Responder, sendJson, startLoopback } from "../../../support/loopback.ts";
import { openDispatcher, runOnce, signatureOf } from "../../../support/webhook-receiver.ts";

/** The event of the first review. */
const firstEvent = (app_key: string | undefined) => ({
  event: "review_create",
  data: {
    id: expect.any(Number),
    title: "Pours well",
    content: "It pours very well.",
    score: 5,
    user_type: "Anonymous",
    verified_buyer: false,
    votes_up: 0,
    votes_down: 0,
    created_at: new Date(startMs).toISOString(),
    updated_at: new Date(startMs).toISOString(),
    deleted: false,
    archived: false,
    new: true,
    app_key,
    sku: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    customer_name: "Ann",
    customer_email: "ann@mail.example",
    order_id: "#7",
  },
});

describe.each(engines)("webhook deliveries over $name", ({ open }) => {
  let harness: Harness;
  let account: TestAccount;
  let receivers: Loopback[];
  beforeEach(async () => {
    harness = await open({ allowsPrivateWebhooks: true });
    account = await harness.newAccount();
    receivers = [];
  });
  afterEach(async () => {
    for (const receiver of receivers) await receiver.close();
    await harness.close();
  });

  const receive = async (respond: Responder) => {
    const receiver = await startLoopback(respond);
    receivers.push(receiver);
    return receiver;
  };
  const subscribe = async (url: string, event_name: "review_create" | "review_updated" = "review_create") =>
    (await account.service.webhooks.create({ url, event_name })).webhook;
  const review = (fields = {}) => account.service.reviews.create(aReview(fields));
  const deliveries = async () => (await account.service.webhookDeliveries.list({ since_id: 0 })).deliveries;
  const firstId = async () => (await deliveries())[0]?.id ?? 0;
  const attemptsOf = async (delivery_id: number) =>
    (await account.service.webhookDeliveries.get({ delivery_id })).attempts;
  const accept: Responder = (response) => sendJson(response, 200, {});

  it("are signed and contain the event and the documented headers", async () => {
    const receiver = await receive(accept);
    const { secret, id } = await subscribe(`${receiver.url}/hook?of=shop`);
    const products = { teapot: anOrderedProduct() };
    await account.service.orders.massCreate(
      bulkOrders([anOrder({ email: "Ann@mail.example", order_id: "#7", products })]),
    );
    await review();
    harness.clock.advance(1_234);
    expect(await runOnce(openDispatcher(harness))).toEqual({ counts: { delivered: 1, deferred: 0, failed: 0 } });
    const [request, ...others] = receiver.received;
    expect(others).toEqual([]);
    const { method, url, headers = {}, body = "" } = request ?? {};
    expect([method, url]).toEqual(["POST", "/hook?of=shop"]);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "starpost/1.2.3",
      "webhook-id": expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      "webhook-timestamp": String(Math.floor((startMs + 1_234) / 1_000)),
      "webhook-signature": signatureOf(headers, body, secret),
    });
    expect(JSON.parse(body)).toEqual(firstEvent(account.caller.appKey));
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({
      webhook_id: id,
      url: `${receiver.url}/hook?of=shop`,
      event_id: headers["webhook-id"],
      state: "delivered",
      due_at: null,
      delivered_at: new Date(startMs + 1_234).toISOString(),
      reason: null,
      attempts: 1,
    });
    expect(await attemptsOf(delivery?.id ?? 0)).toEqual([
      {
        id: expect.any(Number),
        delivery_id: delivery?.id,
        worker: "one",
        started_at: new Date(startMs + 1_234).toISOString(),
        duration_ms: 0,
        status: 200,
        problem: null,
      },
    ]);
    expect(await runOnce(openDispatcher(harness))).toEqual({ counts: { delivered: 0, deferred: 0, failed: 0 } });
    expect(receiver.received).toHaveLength(1);
  });

  it("contain the newest order of the address with the product, or null", async () => {
    const receiver = await receive(accept);
    await subscribe(receiver.url);
    const order = (order_id: string, order_date: string, product: string, email = "ann@mail.example") =>
      anOrder({ order_id, order_date, email, products: { [product]: anOrderedProduct() } });
    await account.service.orders.massCreate(
      bulkOrders([
        order("newest", "2026-03-03", "teapot"),
        order("older", "2026-03-02", "teapot"),
        order("other product", "2026-03-04", "pan"),
        order("other person", "2026-03-05", "teapot", "bob@mail.example"),
      ]),
    );
    await review();
    await review({ sku: "service_site_reviews" });
    await review({ email: "new@mail.example" });
    await runOnce(openDispatcher(harness));
    const values = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { order_id: unknown } }).data.order_id,
    );
    expect(values).toEqual(["newest", "other product", null]);
  });

  it("are retried for three days with the same body and ID", async () => {
    let status = 500;
    const receiver = await receive((response) => sendJson(response, status, {}));
    const { secret } = await subscribe(receiver.url);
    await review();
    const dispatcher = openDispatcher(harness);
    for (const [at, delayMs] of retryDelaysMs.entries()) {
      expect(await runOnce(dispatcher), `attempt ${at + 1}`).toEqual({
        counts: { delivered: 0, deferred: 1, failed: 0 },
      });
      const dueAtMs = (await dispatcher.nextDueAtMs()) ?? 0;
      expect(dueAtMs - harness.clock()).toBeGreaterThanOrEqual(delayMs);
      expect(dueAtMs - harness.clock()).toBeLessThanOrEqual(delayMs * 1.2 + 1);
      harness.clock.advance(delayMs - 1);
      expect((await runOnce(dispatcher)).counts).toEqual({ delivered: 0, deferred: 0, failed: 0 });
      harness.clock.advance(dueAtMs - harness.clock());
    }
    expect(harness.clock() - startMs).toBeGreaterThan(3 * 24 * 3_600_000);
    const [last] = await deliveries();
    expect(last).toMatchObject({ state: "queued", attempts: 9, reason: "HTTP 500" });
    expect((await runOnce(dispatcher)).counts).toEqual({ delivered: 0, deferred: 0, failed: 1 });
    expect(await deliveries()).toMatchObject([{ state: "failed", attempts: 10, reason: "HTTP 500", due_at: null }]);
    expect(await dispatcher.nextDueAtMs()).toBeUndefined();

    status = 204;
    harness.clock.advance(1_000);
    const id = last?.id ?? 0;
    const { delivery } = await account.service.webhookDeliveries.redeliver({ delivery_id: id });
    expect(delivery).toMatchObject({ id, state: "queued", reason: null, event_id: last?.event_id });
    await runOnce(dispatcher);
    expect(await deliveries()).toMatchObject([{ state: "delivered", attempts: 11 }]);
    expect(receiver.received).toHaveLength(11);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([last?.event_id]));
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(11);
    for (const { headers, body } of receiver.received) {
      expect(headers["webhook-signature"]).toBe(signatureOf(headers, body, secret));
    }
  });

  it("round a fractional Retry-After up to whole milliseconds", async () => {
    const receiver = await receive((response) => sendJson(response, 429, {}, { "retry-after": "60.0005" }));
    await subscribe(receiver.url);
    await review();
    expect((await runOnce(openDispatcher(harness))).counts).toMatchObject({ deferred: 1 });
    expect((await deliveries()).map(({ due_at }) => Date.parse(due_at ?? "") - startMs)).toEqual([60_001]);
  });

  it("obey Retry-After for all deliveries of the subscription, for at most a day", async () => {
    const answers = ["60", new Date(startMs + 3_600_000).toUTCString(), "99999999", "soon", "2026-03-17"];
    const receiver = await receive((response, at) => sendJson(response, 429, {}, { "retry-after": answers[at] ?? "" }));
    const { id } = await subscribe(receiver.url);
    await review();
    await review();
    const dispatcher = openDispatcher(harness);
    expect((await runOnce(dispatcher)).counts).toMatchObject({ deferred: 1 });
    const dueAts = async () => (await deliveries()).map(({ due_at }) => Date.parse(due_at ?? "") - startMs);
    expect(await dueAts()).toEqual([60_000, 60_000]);
    await review();
    expect((await dueAts())[2]).toBe(60_000);
    harness.clock.advance(60_000);
    expect((await runOnce(dispatcher)).counts).toMatchObject({ deferred: 1 });
    expect(new Set(await dueAts())).toEqual(new Set([3_600_000]));
    harness.clock.advance(3_540_000);
    await runOnce(dispatcher);
    expect(new Set(await dueAts())).toEqual(new Set([3_600_000 + 24 * 3_600_000]));
    harness.clock.advance(24 * 3_600_000);
    // An invalid Retry-After is ignored: both other deliveries are sent, each with its own next attempt.
    await runOnce(dispatcher);
    expect(receiver.received).toHaveLength(6);
    await account.service.webhooks.delete({ webhook_id: id });
    expect(await deliveries()).toMatchObject(
      [1, 2, 3].map(() => ({ state: "failed", reason: "the webhook was deleted", url: null, due_at: null })),
    );
  });

  it("obey Retry-After only for the subscription that it is about", async () => {
    const busy = await receive((response) => sendJson(response, 429, {}, { "retry-after": "60" }));
    const other = await receive(accept);
    await subscribe(busy.url);
    await subscribe(other.url);
    await review();
    await review();
    const dispatcher = openDispatcher(harness);
    // One is queued, and one is created, after the response.
    await runOnce(dispatcher);
    await review();
    await runOnce(dispatcher);
    expect([busy, other].map(({ received }) => received.length)).toEqual([1, 3]);
  });

  it("stop after 410, including waiting deliveries", async () => {
    const receiver = await receive((response) => sendJson(response, 410, {}));
    await subscribe(receiver.url);
    const { id: kept } = await subscribe(receiver.url, "review_updated");
    await review();
    await review();
    expect((await runOnce(openDispatcher(harness))).counts).toEqual({ delivered: 0, deferred: 0, failed: 1 });
    expect(receiver.received).toHaveLength(1);
    const reason = expect.stringContaining("410");
    expect(await deliveries()).toMatchObject([1, 2].map(() => ({ state: "failed", reason, url: null })));
    expect((await account.service.webhooks.list({})).webhooks.map(({ id }) => id)).toEqual([kept]);
    const id = await firstId();
    await expect(account.service.webhookDeliveries.redeliver({ delivery_id: id })).rejects.toMatchObject({
      kind: "invalidParams",
      field: "delivery_id",
    });
  });

  const late = "no response within 1 s";
  const upgrade = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
  const drip = (socket: ServerResponse["socket"], text: string, at = 0): void => {
    if (socket?.write(text.charAt(at)) === true) setTimeout(drip, 20, socket, text, at + 1);
  };
  const flood = (response: ServerResponse, text: string): void => {
    if (!response.destroyed) response.socket?.write(text.repeat(100), () => setImmediate(flood, response, text));
  };
  const troubles: readonly [string, Responder, string][] = [
    [
      "redirects",
      (response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "HTTP 302: redirects are not followed",
    ],
    [
      "resets the connection",
      (response) => void response.socket?.resetAndDestroy(),
      "connection closed before a response was received",
    ],
    [
      "closes the connection",
      (response) => void response.socket?.destroy(),
      "connection closed before a response was received",
    ],
    ["never answers", () => {}, "no response within 1 s"],
    [
      "speaks another protocol",
      (response) => void response.socket?.end("220 mail.example ESMTP\r\n"),
      "the response is not valid HTTP",
    ],
    [
      "answers with endless headers",
      (response) => void response.writeHead(200, { x: "y".repeat(40_000) }).end(),
      "the response headers are too long",
    ],
    [
      "sends a byte of its headers now and then",
      (response) => drip(response.socket, "HTTP/1.1 200 OK\r\n" + "x: y\r\n".repeat(90)),
      late,
    ],
    [
      "sends endless early hints",
      (response) => flood(response, "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"),
      late,
    ],
    ["switches protocols", (response) => void response.socket?.write(upgrade), late],
    ["rejects them", (response) => sendJson(response, 404, {}), "HTTP 404"],
  ];
  it.each(troubles)("are retried if the receiver %s", async (_what, respond, problem) => {
    const receiver = await receive(respond);
    await subscribe(receiver.url);
    await review();
    const { counts } = await runOnce(openDispatcher(harness, { timeoutMs: 1_000 }));
    expect(counts).toEqual({ delivered: 0, deferred: 1, failed: 0 });
    expect(await deliveries()).toMatchObject([{ state: "queued", reason: problem, attempts: 1 }]);
    const id = await firstId();
    expect(await attemptsOf(id)).toMatchObject([{ problem }]);
    expect(receiver.received).toHaveLength(1);
  });

  it("succeed once if the receiver sends an endless body, most of which is not read", async () => {
    let written = 0;
    const writeMore = (response: ServerResponse) => {
      if (response.destroyed) return;
      written += 65_536;
      response.write(Buffer.alloc(65_536), () => setImmediate(writeMore, response));
    };
    const receiver = await receive((response) => {
      response.writeHead(200);
      writeMore(response);
    });
    await subscribe(receiver.url);
    await review();
    const startedAt = performance.now();
    expect((await runOnce(openDispatcher(harness))).counts).toMatchObject({ delivered: 1 });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    const writtenThen = written;
    await wait(200);
    expect(written - writtenThen).toBeLessThan(1_000_000);
    expect(written).toBeLessThan(20_000_000);
  });

  it("do not expand a compressed response", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const receiver = await receive(
      (response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    );
    await subscribe(receiver.url);
    await review();
    const before = process.memoryUsage().arrayBuffers;
    expect((await runOnce(openDispatcher(harness))).counts).toMatchObject({ delivered: 1 });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  });

  it("succeed once if the receiver never ends its response", async () => {
    const receiver = await receive((response) => void response.writeHead(202).write("a"));
    await subscribe(receiver.url);
    await review();
    expect((await runOnce(openDispatcher(harness, { timeoutMs: 1_000 }))).counts).toMatchObject({ delivered: 1 });
    expect(await deliveries()).toMatchObject([{ state: "delivered", attempts: 1 }]);
  });

  it("continue to other receivers while one hangs, one at a time for each", async () => {
    const hanging = await receive(() => {});
    let [underWay, most] = [0, 0];
    const well = await receive((response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setTimeout(() => {
        underWay -= 1;
        sendJson(response, 200, {});
      }, 20);
    });
    await subscribe(hanging.url);
    await subscribe(well.url);
    for (let at = 0; at < 5; at += 1) await review();
    const stop = new AbortController();
    const round = openDispatcher(harness, { timeoutMs: 30_000, graceMs: 100 }).runDue(stop.signal);
    await expect.poll(() => well.received.length).toBe(5);
    await review({ email: "late@mail.example" });
    await expect.poll(() => well.received.length).toBe(6);
    expect(hanging.received).toHaveLength(1);
    expect(most).toBe(1);
    const scores = well.received.map(({ body }) => (JSON.parse(body) as { data: { id: number } }).data.id);
    expect(scores).toEqual(scores.toSorted((one, other) => one - other));
    stop.abort();
    expect((await round).counts).toEqual({ delivered: 6, deferred: 1, failed: 0 });
    const [first] = await deliveries();
    expect(first).toMatchObject({ state: "queued", attempts: 1, reason: null });
    expect(await attemptsOf(first?.id ?? 0)).toMatchObject([{ problem: expect.any(String) }]);
  });

  it("do not wait for the receivers of another account, however many hang", async () => {
    const hanging = await receive(() => {});
    for (let at = 0; at < 40; at += 1) await subscribe(`${hanging.url}/${at}`);
    await review();
    const other = await harness.newAccount();
    const well = await receive(accept);
    await other.service.webhooks.create({ url: well.url, event_name: "review_create" });
    await other.service.reviews.create(aReview());
    const stop = new AbortController();
    const dispatcher = openDispatcher(harness, { timeoutMs: 30_000, graceMs: 1 });
    const round = dispatcher.runDue(stop.signal);
    await expect.poll(() => well.received.length).toBe(1);
    await expect.poll(() => hanging.received.length).toBe(webhookSlots.perAccount);
    // Another worker gets nothing more of the account, and does not wait for it in a loop.
    const queue = createWebhookQueue(harness.work, { worker: "other", leaseMs: 60_000 });
    expect(await queue.begin(32)).toEqual([]);
    expect(await queue.nextDueAt()).toBe(startMs + 60_000);
    stop.abort();
    expect((await round).counts).toMatchObject({ delivered: 1, deferred: webhookSlots.perAccount });
  });

  it("call private addresses only for the account that the operator allowed", async () => {
    const receiver = await receive(accept);
    const other = await harness.newAccount();
    await harness.work.write(undefined, (operator) => savePrivateWebhooks(other.caller.appKey, false, operator));
    await expect(
      other.service.webhooks.create({ url: receiver.url, event_name: "review_create" }),
    ).rejects.toMatchObject({ kind: "invalidParams", field: "url" });
    const named = receiver.url.replace("127.0.0.1", "db.corp.example");
    await other.service.webhooks.create({ url: named, event_name: "review_create" });
    await other.service.reviews.create(aReview());
    await subscribe(named);
    await review();
    const resolve: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    expect((await runOnce(openDispatcher(harness, { resolve }))).counts).toMatchObject({ delivered: 1, deferred: 1 });
    const { deliveries: refused } = await other.service.webhookDeliveries.list({});
    expect(refused).toMatchObject([{ state: "queued", reason: "the host has no public address" }]);
    expect(receiver.received).toHaveLength(1);
  });

  it("are sent once by two workers", async () => {
    const all = await Promise.all([receive(accept), receive(accept), receive(accept)]);
    for (const { url } of all) await subscribe(url);
    for (let at = 0; at < 20; at += 1) await review();
    const delivered = await Promise.all(
      ["one", "two"].map(async (worker) => {
        const dispatcher = openDispatcher(harness, { worker });
        let count = 0;
        while (all.some(({ received }) => received.length < 20)) {
          count += (await runOnce(dispatcher)).counts["delivered"] ?? 0;
          await wait(1);
        }
        return count;
      }),
    );
    expect(delivered.reduce((sum, count) => sum + count, 0)).toBe(60);
    for (const { received } of all) {
      const ids = received.map(({ headers }) => headers["webhook-id"]);
      expect(ids).toHaveLength(20);
      expect(new Set(ids).size).toBe(20);
    }
  });

  it("are sent by one worker at a time per subscription, in event order", async () => {
    const [busy, free] = [await receive(accept), await receive(accept)];
    await subscribe(busy.url);
    await subscribe(free.url);
    for (let at = 0; at < 3; at += 1) await review();
    const other = createWebhookQueue(harness.work, { worker: "other", leaseMs: 60_000 });
    const [held] = await other.begin(1);
    expect(held?.url).toBe(busy.url);
    expect((await runOnce(openDispatcher(harness))).counts).toMatchObject({ delivered: 3 });
    expect([busy.received.length, free.received.length]).toEqual([0, 3]);
    if (!held) throw new Error("nothing was due");
    await other.end(held, { state: "delivered", status: 200, durationMs: 1 });
    expect((await runOnce(openDispatcher(harness))).counts).toMatchObject({ delivered: 2 });
    const ids = (await deliveries()).map(({ event_id }) => event_id);
    const readWebhookIds = (receiver: Loopback) => receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(readWebhookIds(free)).toEqual([ids[1], ids[3], ids[5]]);
    expect(readWebhookIds(busy)).toEqual([ids[2], ids[4]]);
  });

  it("are retried by another worker after the lease of a lost one expires, with the same ID", async () => {
    const receiver = await receive((response, at) => {
      // The first worker never receives its response.
      if (at > 0) sendJson(response, 200, {});
    });
    await subscribe(receiver.url);
    await review();
    const lost = new AbortController();
    const hanging = openDispatcher(harness, {
      worker: "lost",
      leaseMs: 60_000,
      timeoutMs: 60_000,
      graceMs: 1,
    }).runDue(lost.signal);
    await expect.poll(() => receiver.received.length).toBe(1);
    const other = openDispatcher(harness, { worker: "other" });
    expect((await runOnce(other)).counts).toMatchObject({ delivered: 0 });
    expect(await other.nextDueAtMs()).toBe(startMs + 60_000);
    expect(await deliveries()).toMatchObject([{ state: "leased" }]);
    harness.clock.advance(60_000);
    expect((await runOnce(other)).counts).toMatchObject({ delivered: 1 });
    expect(receiver.received[1]?.headers["webhook-id"]).toBe(receiver.received[0]?.headers["webhook-id"]);
    // The outcome that the lost worker reports late changes nothing.
    lost.abort();
    await hanging;
    const id = await firstId();
    expect(await deliveries()).toMatchObject([{ state: "delivered", attempts: 2 }]);
    expect(await attemptsOf(id)).toMatchObject([
      { worker: "lost", status: null },
      { worker: "other", status: 200, problem: null },
    ]);
  });

  it("are marked as possibly received if the worker was lost", async () => {
    const receiver = await receive((response, at) => void (at > 0 && sendJson(response, 200, {})));
    await subscribe(receiver.url);
    await review();
    const lost = new AbortController();
    const hanging = openDispatcher(harness, { worker: "lost", timeoutMs: 60_000, graceMs: 1 }).runDue(lost.signal);
    await expect.poll(() => receiver.received.length).toBe(1);
    harness.clock.advance(60_000);
    await runOnce(openDispatcher(harness, { worker: "other" }));
    const id = await firstId();
    expect((await attemptsOf(id))[0]).toMatchObject({ duration_ms: null, problem: expect.any(String) });
    lost.abort();
    await hanging;
  });

  it("are repeated if the outcome could not be saved", async () => {
    const receiver = await receive(accept);
    await subscribe(receiver.url);
    await review();
    let writes = 0;
    const { read, write } = harness.work;
    const work = {
      read,
      write: ((accountId, doing) => {
        writes += 1;
        return writes === 2 ? Promise.reject(new Error("database unavailable")) : write(accountId, doing);
      }) as typeof write,
    };
    await expect(runOnce(openDispatcher({ work, clock: harness.clock }))).rejects.toThrow("database unavailable");
    expect(await deliveries()).toMatchObject([{ state: "leased", attempts: 1 }]);
    harness.clock.advance(60_000);
    expect((await runOnce(openDispatcher(harness))).counts).toMatchObject({ delivered: 1 });
    const [first, second, ...others] = receiver.received;
    expect(others).toEqual([]);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect(second?.body).toBe(first?.body);
  });

  it("require the key that the secret was sealed with", async () => {
    const receiver = await receive(accept);
    await subscribe(receiver.url);
    await review();
    await harness.database.db.updateTable("webhooks").set({ secret_sealed: "v1.other.AAAA" }).execute();
    expect((await runOnce(openDispatcher(harness))).counts).toMatchObject({ deferred: 1 });
    expect(receiver.received).toEqual([]);
    expect(await deliveries()).toMatchObject([{ reason: expect.stringContaining("secret") }]);
  });
});
