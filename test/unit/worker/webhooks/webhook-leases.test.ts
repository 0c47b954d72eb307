import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { webhookSlots } from "../../../../src/contract/index.ts";
import { createWebhookQueue } from "../../../../src/engine/webhooks/webhook-queue.ts";
import { engines, type Harness, type TestAccount } from "../../../support/backends.ts";
import { aReview } from "../../../support/builders.ts";
import { type Loopback, sendJson, startLoopback } from "../../../support/loopback.ts";
import { openDispatcher } from "../../../support/webhook-receiver.ts";

const leaseMs = 60_000;
const outcome = { state: "delivered", status: 200, durationMs: 1 } as const;

describe.each(engines)("leases of deliveries over $name", ({ open }) => {
  let harness: Harness;
  let account: TestAccount;
  beforeEach(async () => {
    harness = await open({ allowsPrivateWebhooks: true });
    account = await harness.newAccount();
  });
  afterEach(() => harness.close());

  const subscribe = (url: string) => account.service.webhooks.create({ url, event_name: "review_create" });
  const review = () => account.service.reviews.create(aReview());

  /** Wraps the queue so that the given write fails: before it takes effect, or afterward, when its response is lost. */
  function failingAt(number: number, isDone = false) {
    const { read, write } = harness.work;
    let writes = 0;
    const failing: typeof write = async (accountId, doing) => {
      writes += 1;
      if (writes !== number) return write(accountId, doing);
      if (isDone) await write(accountId, doing);
      throw new Error("database unavailable");
    };
    return { read, write: failing };
  }

  it("are renewed for deliveries in flight", async () => {
    await subscribe("http://127.0.0.1:8001/");
    await review();
    const work = createWebhookQueue(harness.work, { worker: "one", leaseMs });
    expect(await work.begin(32)).toHaveLength(1);
    harness.clock.advance(leaseMs - 1);
    await work.renew();
    harness.clock.advance(leaseMs - 1);
    const other = createWebhookQueue(harness.work, { worker: "other", leaseMs });
    expect(await other.begin(32)).toEqual([]);
  });

  it.each([
    ["whose outcome could not be saved", 2, false],
    ["whose start could not be saved", 1, true],
  ])("expire otherwise, even if the worker is busy: of a delivery %s", async (_what, number, isDone) => {
    await subscribe("http://127.0.0.1:8001/");
    await review();
    const work = createWebhookQueue(failingAt(number, isDone), { worker: "one", leaseMs });
    await expect(
      (async () => {
        for (const begun of await work.begin(32)) await work.end(begun, outcome);
      })(),
    ).rejects.toThrow("database unavailable");
    await subscribe("http://127.0.0.1:8001/other");
    await review();
    const [busy] = await work.begin(32);
    expect(busy?.url).toBe("http://127.0.0.1:8001/other");
    for (let part = 0; part < 3; part += 1) {
      harness.clock.advance(leaseMs / 3);
      await work.renew();
    }
    expect((await work.begin(32)).map(({ url }) => url)).toEqual(["http://127.0.0.1:8001/"]);
  });

  it("are not released by an attempt that took too long", async () => {
    await subscribe("http://127.0.0.1:8001/");
    await review();
    const work = createWebhookQueue(harness.work, { worker: "one", leaseMs });
    const begin = async (by = work) => {
      const [begun, ...others] = await by.begin(32);
      expect(others).toEqual([]);
      if (!begun) throw new Error("nothing is due");
      return begun;
    };
    const refused = { state: "failed", status: 500, problem: "HTTP 500", durationMs: 1 } as const;
    const state = async () => (await account.service.webhookDeliveries.list({})).deliveries[0]?.state;
    const slow = await begin();
    harness.clock.advance(leaseMs);
    const again = await begin();
    await work.end(slow, refused);
    expect(await state()).toBe("leased");
    harness.clock.advance(leaseMs - 1);
    await work.renew();
    harness.clock.advance(leaseMs - 1);
    const other = createWebhookQueue(harness.work, { worker: "other", leaseMs });
    expect(await other.begin(32)).toEqual([]);
    await work.end(again, refused);
    expect(await state()).toBe("queued");
    // As an attempt with the same number by another worker, which restarts the series.
    const redeliver = () => account.service.webhookDeliveries.redeliver({ delivery_id: again.id });
    await redeliver();
    const lost = await begin();
    harness.clock.advance(leaseMs);
    // Another worker has taken it over, and has lost it, too.
    const released = { state: "queued", worker: null, leased_until: null } as const;
    await harness.database.db.updateTable("webhook_deliveries").set(released).execute();
    await redeliver();
    expect((await begin(other)).attempt).toBe(lost.attempt);
    harness.clock.advance(1);
    await work.renew();
    await work.end(lost, refused);
    expect(await state()).toBe("leased");
    const third = createWebhookQueue(harness.work, { worker: "third", leaseMs });
    harness.clock.advance(leaseMs - 2);
    expect(await third.begin(32)).toEqual([]);
    harness.clock.advance(1);
    expect(await third.begin(32)).toHaveLength(1);
  });

  it("are renewed for many subscriptions at once without warnings", async () => {
    const receivers: Loopback[] = [];
    const warn = vi.spyOn(process, "emitWarning");
    try {
      let answer = () => {};
      const all = new Promise<void>((resolve) => (answer = resolve));
      for (let at = 0; at < 5; at += 1) {
        const { service } = await harness.newAccount();
        for (let slot = 0; slot < webhookSlots.perAccount; slot += 1) {
          const receiver = await startLoopback((response) => void all.then(() => sendJson(response, 200, {})));
          receivers.push(receiver);
          await service.webhooks.create({ url: receiver.url, event_name: "review_create" });
        }
        await service.reviews.create(aReview());
      }
      const round = openDispatcher(harness).runDue(new AbortController().signal);
      const asked = () => receivers.filter(({ received }) => received.length > 0).length;
      await expect.poll(asked).toBe(40);
      answer();
      expect((await round).counts).toEqual({ delivered: 40, deferred: 0, failed: 0 });
      expect(warn.mock.calls).toEqual([]);
    } finally {
      warn.mockRestore();
      for (const receiver of receivers) await receiver.close();
    }
  });
});
