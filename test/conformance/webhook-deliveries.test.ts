import { expect, it } from "vitest";
import type { AttemptOutcome } from "../../src/engine/webhooks/outcomes.ts";
import { createWebhookQueue } from "../../src/engine/webhooks/webhook-queue.ts";
import { describeBackends, describeIsolated, startMs, type Harness } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { invalidField, mentioning } from "../support/service-errors.ts";

const url = "https://shop.example/hook";
const start = new Date(startMs).toISOString();

/** Runs the next due delivery in a worker, with the given outcome. */
async function attempt({ work }: Harness, outcome: AttemptOutcome, worker = "one"): Promise<number> {
  const queue = createWebhookQueue(work, { worker, leaseMs: 60_000 });
  const [started] = await queue.begin(1);
  if (!started) throw new Error("no delivery is due");
  await queue.end(started, outcome);
  return started.id;
}

const failed: AttemptOutcome = { state: "failed", status: 500, problem: "HTTP 500", durationMs: 12.4 };
const delivered: AttemptOutcome = { state: "delivered", status: 204, durationMs: 7 };

describeIsolated("webhookDeliveries", (harness) => {
  it("list, get, and attempts show what was sent, the newest first", async () => {
    const { service, caller } = await harness().newAccount();
    const { webhook } = await service.webhooks.create({ url, event_name: "review_create" });
    await service.reviews.create(aReview());
    await service.reviews.create(aReview());
    const { deliveries } = await service.webhookDeliveries.list({});
    expect(deliveries).toHaveLength(2);
    const [newer, older] = deliveries;
    expect(older).toEqual({
      id: expect.any(Number),
      webhook_id: webhook.id,
      url,
      event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      event_name: "review_create",
      state: "queued",
      created_at: start,
      due_at: start,
      delivered_at: null,
      reason: null,
      attempts: 0,
    });
    expect(newer?.id).toBeGreaterThan(older?.id ?? 0);
    harness().clock.advance(1_000);
    expect(await attempt(harness(), failed)).toBe(older?.id);
    expect(await attempt(harness(), delivered)).toBe(newer?.id);
    const delivery_id = older?.id ?? 0;
    const { delivery, attempts } = await service.webhookDeliveries.get({ delivery_id });
    const { body, ...rest } = delivery;
    expect(JSON.parse(body)).toMatchObject({ event: "review_create", data: { app_key: caller.appKey } });
    expect(rest).toMatchObject({ state: "queued", reason: "HTTP 500", attempts: 1, delivered_at: null });
    expect(Date.parse(rest.due_at ?? "")).toBeGreaterThanOrEqual(startMs + 6_000);
    const started_at = new Date(startMs + 1_000).toISOString();
    const first = { delivery_id, worker: "one", started_at, duration_ms: 12, status: 500, problem: "HTTP 500" };
    expect(attempts).toEqual([{ id: expect.any(Number), ...first }]);
    const all = await service.webhookDeliveries.attempts({});
    expect(all.attempts).toMatchObject([
      { status: 204, problem: null, duration_ms: 7, delivery: { id: newer?.id, state: "delivered", attempts: 1 } },
      { ...first, delivery: rest },
    ]);
    const since_id = all.attempts[0]?.id ?? 0;
    expect((await service.webhookDeliveries.attempts({ since_id })).attempts).toEqual([all.attempts[0]]);
    expect((await service.webhookDeliveries.attempts({ since_id: since_id + 1 })).attempts).toEqual([]);
    expect((await service.webhookDeliveries.attempts({ count: 1 })).attempts).toEqual([all.attempts[0]]);
  });

  it("list filters by state, event, and subscription, and pages from an ID", async () => {
    const { service } = await harness().newAccount();
    const create = async (path: string, event_name: "review_create" | "review_updated") =>
      (await service.webhooks.create({ url: `${url}/${path}`, event_name })).webhook.id;
    const [a, b, c] = [
      await create("a", "review_create"),
      await create("b", "review_create"),
      await create("a", "review_updated"),
    ];
    const { reviews } = await service.reviews.createNow(aReview());
    await service.reviews.comment({ review_id: reviews[0]?.id ?? 0, content: "Thanks" });
    await attempt(harness(), delivered);
    const list = async (query: Parameters<typeof service.webhookDeliveries.list>[0]) =>
      (await service.webhookDeliveries.list(query)).deliveries.map(({ webhook_id }) => webhook_id);
    expect(await list({})).toEqual([c, b, a]);
    expect(await list({ state: "delivered" })).toEqual([a]);
    expect(await list({ state: "queued" })).toEqual([c, b]);
    expect(await list({ state: "failed" })).toEqual([]);
    expect(await list({ state: "queued,delivered" })).toEqual([c, b, a]);
    expect(await list({ state: "queued,delivered", count: 2 })).toEqual([c, b]);
    expect(await list({ state: "delivered, queued", since_id: 0 })).toEqual([a, b, c]);
    expect(await list({ event_name: "review_create" })).toEqual([b, a]);
    expect(await list({ webhook_id: b, event_name: "review_create", state: "queued" })).toEqual([b]);
    const { deliveries } = await service.webhookDeliveries.list({ since_id: 0, count: 2 });
    expect(deliveries.map(({ webhook_id }) => webhook_id)).toEqual([a, b]);
    expect(await list({ since_id: (deliveries.at(-1)?.id ?? 0) + 1 })).toEqual([c]);
    expect(await list({ count: 0 })).toHaveLength(1);
    await expect(list({ state: "lost" })).rejects.toMatchObject(
      invalidField("state", "queued, leased, delivered, failed"),
    );
  });

  it("list filters by creation time", async () => {
    const { service } = await harness().newAccount();
    const { webhook } = await service.webhooks.create({ url, event_name: "review_create" });
    for (let day = 0; day < 3; day++) {
      await service.reviews.create(aReview());
      harness().clock.advance(24 * 3_600_000);
    }
    await attempt(harness(), delivered);
    const at = (days: number) => new Date(startMs + days * 24 * 3_600_000).toISOString();
    const list = async (query: Parameters<typeof service.webhookDeliveries.list>[0]) =>
      (await service.webhookDeliveries.list(query)).deliveries.map(
        ({ created_at }) => (Date.parse(created_at) - startMs) / (24 * 3_600_000),
      );
    expect(await list({ since_date: at(1) })).toEqual([2, 1]);
    expect(await list({ until_date: at(1) })).toEqual([0]);
    expect(await list({ since_date: at(0.5), until_date: at(2) })).toEqual([1]);
    expect(await list({ since_date: at(0), count: 2 })).toEqual([2, 1]);
    expect(await list({ since_date: at(0), state: "delivered", webhook_id: webhook.id })).toEqual([0]);
    expect(await list({ since_date: at(0), state: "queued" })).toEqual([2, 1]);
    expect(await list({ since_date: at(1), since_id: 0 })).toEqual([1, 2]);
  });

  it("redeliver sends again under the same ID, with a new series of attempts", async () => {
    const { service } = await harness().newAccount();
    await service.webhooks.create({ url, event_name: "review_create" });
    await service.reviews.create(aReview());
    const delivery_id = await attempt(harness(), delivered);
    const { delivery: sent } = await service.webhookDeliveries.get({ delivery_id });
    harness().clock.advance(5_000);
    const { delivery } = await service.webhookDeliveries.redeliver({ delivery_id });
    const { body: _body, ...before } = sent;
    const due_at = new Date(startMs + 5_000).toISOString();
    expect(delivery).toEqual({ ...before, state: "queued", due_at, delivered_at: null });
    expect(await service.webhookDeliveries.redeliver({ delivery_id })).toEqual({ delivery });
    const [started] = await createWebhookQueue(harness().work, { worker: "one", leaseMs: 60_000 }).begin(1);
    expect(started).toMatchObject({ id: delivery_id, eventId: sent.event_id, body: sent.body, attempt: 1 });
    // A delivery in progress stays unchanged.
    const leased = await service.webhookDeliveries.redeliver({ delivery_id });
    expect(leased.delivery).toMatchObject({ state: "leased", due_at: null, attempts: 2 });
  });

  it("redeliver does not wait for a pause that the receiver requested", async () => {
    const { service } = await harness().newAccount();
    await service.webhooks.create({ url, event_name: "review_create" });
    await service.reviews.create(aReview());
    const delivery_id = await attempt(harness(), { ...failed, retryAfterMs: 3_600_000 });
    const before = await service.webhookDeliveries.get({ delivery_id });
    expect(before.delivery.due_at).toBe(new Date(startMs + 3_600_000).toISOString());
    const { delivery } = await service.webhookDeliveries.redeliver({ delivery_id });
    expect(delivery.due_at).toBe(start);
  });

  it("end with their subscription if they are queued, and stay in the log", async () => {
    const { service } = await harness().newAccount();
    const { webhook } = await service.webhooks.create({ url, event_name: "review_create" });
    await service.reviews.create(aReview());
    await service.reviews.create(aReview());
    const started = await createWebhookQueue(harness().work, { worker: "one", leaseMs: 60_000 }).begin(1);
    await service.webhooks.delete({ webhook_id: webhook.id });
    const reason = expect.stringContaining("webhook");
    const list = async () => (await service.webhookDeliveries.list({ since_id: 0 })).deliveries;
    expect(await list()).toMatchObject([
      { state: "leased", url: null },
      { state: "failed", reason, due_at: null },
    ]);
    const [active] = started;
    if (!active) throw new Error("no delivery is due");
    // A delivery in progress is not retried.
    await createWebhookQueue(harness().work, { worker: "one", leaseMs: 60_000 }).end(active, failed);
    expect(await list()).toMatchObject([{ state: "failed", reason: "HTTP 500" }, { state: "failed" }]);
    await expect(service.webhookDeliveries.redeliver({ delivery_id: active.id })).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining("deleted"),
    });
  });
});

describeBackends("webhooks.create", (harness) => {
  it("rejects addresses in the private network, by number or by name, and explains why", async () => {
    const { service } = await harness().newAccount();
    const rejections: readonly (readonly [address: string, message: unknown])[] = [
      ["http://127.1:8080/", mentioning("url", "127.0.0.1")],
      ["http://169.254.169.254/latest", mentioning("url", "169.254.169.254")],
      ["https://localhost./", mentioning("url", "localhost")],
      ["https://me:secret@shop.example/", mentioning("url", "password")],
      ["http://shop.example:25/", mentioning("url", "port 25")],
    ];
    for (const [address, message] of rejections) {
      const created = service.webhooks.create({ url: address, event_name: "review_create" });
      await expect(created).rejects.toMatchObject({ kind: "invalidParams", message });
    }
    expect((await service.webhooks.list({})).webhooks).toEqual([]);
  });
});

describeBackends(
  "webhooks.create, with private networks allowed",
  (harness) => {
    it("accepts addresses in the private network, unless they are invalid for another reason", async () => {
      const { service } = await harness().newAccount();
      const create = (address: string) => service.webhooks.create({ url: address, event_name: "review_create" });
      expect((await create("http://127.0.0.1:8080/hook")).webhook.url).toBe("http://127.0.0.1:8080/hook");
      expect((await create("http://receiver:3000/")).webhook.url).toBe("http://receiver:3000/");
      await expect(create("http://127.0.0.1:22/")).rejects.toMatchObject({ kind: "invalidParams" });
      await expect(create("http://a:b@127.0.0.1/")).rejects.toMatchObject({ kind: "invalidParams" });
    });
  },
  { allowsPrivateWebhooks: true },
);
