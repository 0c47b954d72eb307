import { expect, it } from "vitest";
import { createEmailQueue } from "../../../src/engine/emails/sending/email-queue.ts";
import { createWebhookQueue } from "../../../src/engine/webhooks/webhook-queue.ts";
import { createCleanupJobs } from "../../../src/worker/cleanup-jobs.ts";
import { findUncompared } from "../../support/account-check.ts";
import { engines, type Harness, type TestAccount } from "../../support/backends.ts";
import { anOrder, aReview, bulkOrders } from "../../support/builders.ts";
import { cleanupSettings } from "../../support/cleanup.ts";
import { callEveryOperation } from "../../support/every-call.ts";
import { recordStatements } from "../../support/statement-count.ts";

/** Parts of statements that may read rows of any account, and why. */
const exceptions: readonly (readonly [part: string, reason: string])[] = [
  [`"kind" = 'owner'`, "subdomains are unique across accounts"],
  ["from public_ids where kind", "finds the account of a record that a public call names by its ID"],
  ["from account_versions as due", "finds accounts with due emails or deliveries"],
  ["from account_versions as walked", "finds accounts to clean up"],
  [`select 1 from "`, "whether a table has rows, for statistics"],
  [`from "mails" order by "id"`, "a helper of this test"],
];

/** What the worker does that no operation does. */
async function work(harness: Harness, { service }: TestAccount): Promise<void> {
  await service.account.set({ retain_emails: "90d", retain_webhooks: "30d" });
  await service.orders.massCreate(bulkOrders([anOrder({ order_id: "due", email: "due@mail.example" })]));
  const emails = createEmailQueue(harness.work, { worker: "one", leaseMs: 60_000 });
  await emails.claim(1);
  await emails.renew();
  await emails.release();
  const { emails: claimed } = await emails.claim(100);
  for (const { email } of claimed) {
    await emails.step([], email.id);
    await emails.recordTemplateUse(email, "broken");
    await emails.step([{ id: email.id, outcome: { state: "accepted", answer: "250 OK" } }]);
  }
  await emails.nextDueAt();
  await service.webhooks.create({ url: "https://shop.example/", event_name: "review_create" });
  const webhooks = createWebhookQueue(harness.work, { worker: "one", leaseMs: 1 });
  for (const state of ["delivered", "failed", "aborted"] as const) {
    await service.reviews.createNow(aReview());
    const [begun] = await webhooks.begin(1);
    await webhooks.renew();
    if (begun) await webhooks.end(begun, { state, durationMs: 1, status: 200, problem: "busy", retryAfterMs: 1 });
    harness.clock.advance(60_000);
  }
  for (const job of createCleanupJobs(cleanupSettings(harness))) await job.runDue(new AbortController().signal);
}

const comparison = /(?:"?\w+"?\.)?"?account_id"? = (?:\?|\$\d+|(?:"?\w+"?\.)?"?\w+"?)/g;

/** The statement without each of its comparisons of accounts. */
function leaveOut(sql: string): readonly string[] {
  return Array.from(
    sql.matchAll(comparison),
    ({ 0: text, index }) => `${sql.slice(0, index)}1 = 1${sql.slice(index + text.length)}`,
  );
}

it.each(engines)("compares the account of every table in every statement over $name", async ({ open }) => {
  const harness = await open();
  try {
    const account = await harness.newAccount();
    const all = await recordStatements(async () => {
      await callEveryOperation(harness, account);
      await work(harness, account);
    });
    const statements = [...new Set(all)].filter((sql) => !exceptions.some(([part]) => sql.includes(part)));
    expect(statements.length).toBeGreaterThan(450);
    expect(statements.some((sql) => sql.includes("leased_until > 0"))).toBe(true);
    expect(statements.filter((sql) => findUncompared(sql).length > 0)).toEqual([]);
    // Without one of these comparisons, the check fails, unless another one implies it.
    const changed = statements.flatMap(leaveOut);
    expect(changed.length).toBeGreaterThan(700);
    expect(changed.filter((sql) => findUncompared(sql).length === 0).length).toBeLessThan(changed.length / 50);
  } finally {
    await harness.close();
  }
});
