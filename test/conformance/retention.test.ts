import { expect, it } from "vitest";
import { createRetentionJob } from "../../src/worker/cleanup-jobs.ts";
import { cleanupSettings } from "../support/cleanup.ts";
import { describeBackends } from "../support/backends.ts";
import { addCustomer, findWords, zeb } from "../support/customers.ts";

const dayMs = 86_400_000;
const noStop = new AbortController().signal;

describeBackends("the retention of emails and webhook deliveries", (harness) => {
  it("is set in days, and shown", async () => {
    const { service } = await harness().newAccount();
    const { settings } = await service.account.set({ retain_emails: "90d", retain_webhooks: "30d" });
    expect(settings).toMatchObject({ retain_emails: 90, retain_webhooks: 30 });
    const { settings: changed } = await service.account.set({ retain_webhooks: "forever" });
    expect(changed).toMatchObject({ retain_emails: 90 });
    expect(changed).not.toHaveProperty("retain_webhooks");
    for (const retain_emails of ["0d", "3651d", "90", "1w"]) {
      await expect(service.account.set({ retain_emails })).rejects.toMatchObject({ kind: "invalidParams" });
    }
  });

  it("removes what is older, and only that", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await service.webhooks.create({ url: "https://shop.example/", event_name: "review_updated" });
    await addCustomer(harness(), account, zeb);
    const { db } = harness().database;
    const accountId = await harness().newestAccountId();
    const update = db.updateTable("mails").where("account_id", "=", accountId);
    await update
      .set({ state: "sent", sent_at: harness().clock() })
      .where("state", "=", "queued")
      .where("category", "!=", "map")
      .execute();
    await db
      .updateTable("webhook_deliveries")
      .set({ state: "delivered" })
      .where("account_id", "=", accountId)
      .execute();
    const job = createRetentionJob(cleanupSettings(harness()));
    await job.runDue(noStop);
    const before = await service.emails.list({ count: 100 });
    await service.account.set({ retain_emails: "9d", retain_webhooks: "3d" });
    harness().clock.advance(3 * dayMs + 1);
    await job.runDue(noStop);
    expect((await service.webhookDeliveries.list({})).deliveries).toEqual([]);
    expect(await service.emails.list({ count: 100 })).toEqual(before);
    harness().clock.advance(6 * dayMs);
    expect((await job.runDue(noStop)).counts.trimmed).toBe(before.mails.length - 1);
    const { mails } = await service.emails.list({ count: 100 });
    expect(mails.filter(({ email }) => email !== "")).toMatchObject([{ category: "map", state: "queued" }]);
    expect(mails.map(({ id, state }) => ({ id, state }))).toEqual(before.mails.map(({ id, state }) => ({ id, state })));
    const places = (await findWords(harness(), [zeb.email])).filter((place) => /^(mail_(?!supp)|webhook_)/.test(place));
    expect(places).toEqual([]);
    expect(await job.nextDueAtMs()).toBe(harness().clock() + 3_600_000);
  });
});
