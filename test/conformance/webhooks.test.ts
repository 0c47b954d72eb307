import { expect, it } from "vitest";
import { maxWebhooks } from "../../src/contract/index.ts";
import { describeIsolated, startMs } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { invalidField } from "../support/service-errors.ts";

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
