import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DueAccounts } from "../../../../src/engine/kernel/due-accounts.ts";
import { noteDue } from "../../../../src/engine/kernel/due-times.ts";
import { createEmailQueue, type EmailQueue } from "../../../../src/engine/emails/sending/email-queue.ts";
import type { EngineWork } from "../../../../src/engine/kernel/handler.ts";
import { createWebhookQueue } from "../../../../src/engine/webhooks/webhook-queue.ts";
import { createCleanupJobs } from "../../../../src/worker/cleanup-jobs.ts";
import { engines, type Harness, startMs } from "../../../support/backends.ts";
import { aReview } from "../../../support/builders.ts";
import { cleanupSettings } from "../../../support/cleanup.ts";
import { readAccountId } from "../../../support/due-emails.ts";

const accepted = { state: "accepted", answer: "250 ok" } as const;

describe.each(engines)("accounts with due work over $name", ({ open }) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  const newAccountId = async () => readAccountId(harness, await harness.newAccount());

  /** Inserts emails without an order, one per due time. */
  async function insertEmails(account_id: number, dueAtMs: readonly number[]): Promise<void> {
    for (let start = 0; start < dueAtMs.length; start += 500) {
      const rows = dueAtMs.slice(start, start + 500).map((due_at) => ({
        account_id,
        category: "map",
        email_type_id: 1,
        email: "bea@mail.example",
        email_key: "bea@mail.example",
        name: "Bea",
        data: "{}",
        state: "queued",
        due_at,
        created_at: startMs,
      }));
      await harness.database.db.insertInto("mails").values(rows).execute();
    }
    await harness.work.write(account_id, (context) => noteDue("emails_due_at", account_id, context));
  }

  /** Inserts accounts without anything else, and returns the ID of the last one. */
  async function insertAccounts(count: number): Promise<number> {
    const { db } = harness.database;
    const accounts = Array.from({ length: count }, (_, at) => ({
      app_key: `bulk-${at}`,
      secret_sealed: "",
      created_at: startMs,
    }));
    let last = 0;
    for (let start = 0; start < count; start += 500) {
      const added = await db
        .insertInto("accounts")
        .values(accounts.slice(start, start + 500))
        .returning("id")
        .execute();
      await db
        .insertInto("account_versions")
        .values(added.map(({ id }) => ({ account_id: id, version: 1 })))
        .execute();
      last = Math.max(last, ...added.map(({ id }) => id));
    }
    return last;
  }

  const overdue = (count: number, atMs = startMs - 1_000) => Array<number>(count).fill(atMs);
  const openQueue = (work: EngineWork = harness.work): EmailQueue =>
    createEmailQueue(work, { worker: "one", leaseMs: 60_000, usesOutbox: true });
  const accountsOf = ({ emails }: Awaited<ReturnType<EmailQueue["claim"]>>) =>
    emails.map(({ email }) => email.accountId);
  const readTimes = async () => {
    const rows = harness.database.db.selectFrom("account_versions").select(["account_id", "emails_due_at"]);
    return (await rows.orderBy("account_id").execute()).map((row) => [row.account_id, row.emails_due_at]);
  };
  const find = (due: DueAccounts) => harness.work.read((context) => due.find(context));

  it("get an equal share each, however many rows one of them has", async () => {
    const [many, few, one] = [await newAccountId(), await newAccountId(), await newAccountId()];
    await insertEmails(many, overdue(300, startMs - 5_000));
    await insertEmails(few, overdue(5));
    await insertEmails(one, overdue(1));
    const claimed = accountsOf(await openQueue().claim(9));
    expect(claimed).toEqual([many, many, many, few, few, few, one]);
  });

  it("take turns, beginning after the account whose email was sent last", async () => {
    const [a, b, c] = [await newAccountId(), await newAccountId(), await newAccountId()];
    for (const account of [a, b, c]) await insertEmails(account, overdue(4));
    const queue = openQueue();
    const sent: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      // As if the mail server were so slow that only the first email could be sent before the others are released.
      const [first] = (await queue.claim(3)).emails;
      const { id, accountId } = first?.email ?? expect.unreachable();
      await queue.step([], id);
      await queue.step([{ id, outcome: accepted }]);
      await queue.release();
      sent.push(accountId);
    }
    expect(sent).toEqual([a, b, c, a]);
  });

  it("are found in the order in which they became due if there are more than one search shows", async () => {
    const last = await insertAccounts(1_200);
    const { db } = harness.database;
    await db
      .updateTable("account_versions")
      .set({ emails_due_at: startMs - 1_000 })
      .where("account_id", "<=", last)
      .execute();
    const [early, late] = [await newAccountId(), await newAccountId()];
    await insertEmails(early, overdue(300, startMs - 5_000));
    await insertEmails(late, overdue(1, startMs));
    expect(await find(new DueAccounts("emails_due_at"))).toContain(early);
    // The others have nothing due, which their first look corrects.
    const queue = openQueue();
    expect(accountsOf(await queue.claim(4))).toEqual([early]);
    expect(accountsOf(await queue.claim(4))).toEqual([early, late]);
    expect(await find(new DueAccounts("emails_due_at"))).toEqual([early]);
  });

  it("of a full search take turns with an equal share for a second, also if some have nothing", async () => {
    let nowMs = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    const last = await insertAccounts(600);
    await harness.database.db
      .updateTable("account_versions")
      .set({ emails_due_at: startMs - 1_000 })
      .where("account_id", "<=", last)
      .execute();
    const due = new DueAccounts("emails_due_at");
    let searches = 0;
    const read: EngineWork["read"] = (search) => {
      searches += 1;
      return harness.work.read(search);
    };
    const shares = new Map<number, number>();
    const takeRound = () =>
      due.takeInTurn(50, { read }, async (accountId, limit) => {
        shares.set(accountId, limit);
        return { rows: accountId % 10 === 0 ? 0 : limit, result: accountId };
      });
    while (shares.size < 500) expect((await takeRound()).length).toBeLessThanOrEqual(50);
    expect([searches, new Set(shares.values())]).toEqual([1, new Set([1])]);
    await takeRound();
    expect(searches).toBe(2);
    await takeRound();
    expect(searches).toBe(2);
    nowMs += 1_001;
    await takeRound();
    expect(searches).toBe(3);
  });

  it("move to the end of the line when they are served, for all workers", async () => {
    const [many, other] = [await newAccountId(), await newAccountId()];
    await insertEmails(many, overdue(600, startMs - 5_000));
    await insertEmails(other, overdue(1, startMs - 1_000));
    expect(accountsOf(await openQueue().claim(2))).toEqual([many, other]);
    harness.clock.advance(10);
    const next = await newAccountId();
    await insertEmails(next, overdue(1, startMs - 3_000));
    expect(await readTimes()).toEqual([
      [many, startMs],
      [other, startMs + 60_000],
      [next, startMs - 3_000],
    ]);
  });

  it("are not found before they are due, while leased, or while disabled", async () => {
    const [early, leased, disabled] = [await newAccountId(), await newAccountId(), await newAccountId()];
    await insertEmails(early, [startMs + 1]);
    await insertEmails(leased, overdue(1));
    const queue = openQueue();
    expect(accountsOf(await queue.claim(1))).toEqual([leased]);
    await insertEmails(disabled, overdue(251));
    const { db } = harness.database;
    await db.updateTable("accounts").set({ disabled_at: startMs }).where("id", "=", disabled).execute();
    const due = new DueAccounts("emails_due_at");
    expect((await queue.claim(1)).emails).toEqual([]);
    expect(await find(due)).toEqual([]);
    expect(await queue.nextDueAt()).toBe(startMs + 1);
    harness.clock.advance(1);
    expect([await find(due), await queue.nextDueAt()]).toEqual([[early], startMs + 1]);
    harness.clock.advance(59_999);
    expect(await find(due)).toEqual([early, leased]);
  });

  it("are found some time later if their time was too late", async () => {
    const [late, unknown] = [await newAccountId(), await newAccountId()];
    for (const account of [late, unknown]) await insertEmails(account, overdue(1, startMs - 600_000));
    const { db } = harness.database;
    const setTime = (id: number, emails_due_at: number | null) =>
      db.updateTable("account_versions").set({ emails_due_at }).where("account_id", "=", id).execute();
    await setTime(late, startMs + 1);
    await setTime(unknown, null);
    expect(accountsOf(await openQueue().claim(2))).toEqual([]);
    for (const job of createCleanupJobs(cleanupSettings(harness))) await job.runDue(new AbortController().signal);
    expect(accountsOf(await openQueue().claim(2))).toEqual([late, unknown]);
  });

  it("are served although others cannot be written to", async () => {
    const [a, b, c] = [await newAccountId(), await newAccountId(), await newAccountId()];
    for (const account of [a, b, c]) await insertEmails(account, overdue(1));
    const locked = new Set([a, b]);
    const write: EngineWork["write"] = (accountId, doing) =>
      locked.has(accountId ?? 0) ? Promise.reject(new Error("locked")) : harness.work.write(accountId, doing);
    const queue = openQueue({ read: harness.work.read, write });
    expect(accountsOf(await queue.claim(3))).toEqual([c]);
    await expect(queue.claim(3)).rejects.toThrow("locked");
    locked.clear();
    expect(accountsOf(await queue.claim(3))).toEqual([a, b]);
  });

  it("are released and renewed one by one, even if one of them cannot be written to", async () => {
    const [a, b] = [await newAccountId(), await newAccountId()];
    for (const account of [a, b]) await insertEmails(account, overdue(1));
    let locked = 0;
    const write: EngineWork["write"] = (accountId, doing) =>
      accountId === locked ? Promise.reject(new Error("locked")) : harness.work.write(accountId, doing);
    const queue = openQueue({ read: harness.work.read, write });
    await queue.claim(2);
    locked = a;
    harness.clock.advance(30_000);
    await expect(queue.renew()).rejects.toThrow("locked");
    await expect(queue.release()).rejects.toThrow("locked");
    const states = () =>
      harness.database.db.selectFrom("mails").select(["account_id", "state"]).orderBy("id").execute();
    expect(await states()).toEqual([
      { account_id: a, state: "leased" },
      { account_id: b, state: "queued" },
    ]);
    locked = 0;
    await queue.release();
    expect((await states()).map(({ state }) => state)).toEqual(["queued", "queued"]);
  });

  it("share the slots for webhooks; those with the fewest deliveries in flight come first", async () => {
    const accounts = [await harness.newAccount(), await harness.newAccount()];
    for (const { service } of accounts) {
      for (let at = 0; at < 6; at += 1) {
        await service.webhooks.create({ url: `https://shop.example/${at}`, event_name: "review_create" });
      }
      await service.reviews.create(aReview());
    }
    const [a = 0, b = 0] = await Promise.all(accounts.map((account) => readAccountId(harness, account)));
    const queue = createWebhookQueue(harness.work, { worker: "one", leaseMs: 60_000 });
    const begin = async (limit: number) => (await queue.begin(limit)).map(({ accountId }) => accountId);
    expect(await begin(3)).toEqual([a, a, b]);
    expect(await begin(1)).toEqual([b]);
    expect(await begin(4)).toEqual([a, a, b, b]);
  });
});
