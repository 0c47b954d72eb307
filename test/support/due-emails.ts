import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { OutgoingEmail } from "../../src/email/outgoing-email.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { createEmailQueue, type EmailQueue } from "../../src/engine/emails/sending/email-queue.ts";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import type { Database } from "../../src/storage/database.ts";
import type { Harness, TestAccount } from "./backends.ts";

/** Creates the queue of a worker, as in another process. */
export function createWorker({ database, clock }: Harness, name = "worker", usesOutbox = false): EmailQueue {
  const sealer = createSealer(Buffer.alloc(32, 7));
  const options = { database, clock, random: randomBytes, sealer, enforceLimits: false };
  return createEmailQueue(createLocalTransport(options).work, { worker: name, leaseMs: 60_000, usesOutbox });
}

/** Sends all due emails, as a worker whose mail server accepts everything. Returns what was sent, in order. */
export async function sendDueEmails(harness: Harness): Promise<readonly OutgoingEmail[]> {
  const worker = createWorker(harness, `sender-${randomBytes(4).toString("hex")}`);
  const outgoing: OutgoingEmail[] = [];
  for (;;) {
    const { emails, notSent, held } = await worker.claim(1_000);
    if (emails.length === 0 && notSent.length === 0 && held.length === 0) return outgoing;
    for (const { email } of emails) {
      const { hasBegun } = await worker.step([], email.id);
      if (!hasBegun) continue;
      await worker.step([{ id: email.id, outcome: { state: "accepted", answer: "250 OK" } }]);
      outgoing.push(email);
    }
  }
}

/** Evaluates all due review requests. Returns the result of each, by `order/product`. */
export async function evaluateDueEmails(harness: Harness): Promise<Record<string, string>> {
  await createWorker(harness).claim(1_000);
  return readEmailResults(harness);
}

/** Reads the state of each review request, or the rule that prevented it. */
export async function readEmailResults({ database }: Pick<Harness, "database">): Promise<Record<string, string>> {
  const rows = await database.db
    .selectFrom("mails")
    .innerJoin("orders", (join) =>
      join.onRef("orders.account_id", "=", "mails.account_id").onRef("orders.id", "=", "mails.order_row"),
    )
    .leftJoin("products", (join) =>
      join.onRef("products.account_id", "=", "mails.account_id").onRef("products.id", "=", "mails.product_row"),
    )
    .select(["orders.order_id", "products.product_id", "mails.state", "mails.reason"])
    .orderBy("mails.id")
    .execute();
  return Object.fromEntries(
    rows.map(({ order_id, product_id, state, reason }) => [
      `${order_id}/${product_id ?? "*"}`,
      state === "not_sent" ? String(reason) : state,
    ]),
  );
}

/** Returns the database ID of an account. */
export async function readAccountId({ database }: Harness, { caller }: TestAccount): Promise<number> {
  const { id } = await database.db
    .selectFrom("accounts")
    .select("id")
    .where("app_key", "=", caller.appKey)
    .executeTakeFirstOrThrow();
  return id;
}

/** Inserts a review request that was sent for an old order. */
export async function recordSent(harness: Harness, accountId: number, email: string, sentMs: number) {
  const { id } = await harness.database.db
    .insertInto("mails")
    .values({
      account_id: accountId,
      category: "map",
      email_type_id: 1,
      email,
      email_key: email.toLowerCase(),
      name: "",
      data: "{}",
      state: "sent",
      due_at: sentMs,
      created_at: sentMs,
      sent_at: sentMs,
      order_row: 1_000_000 + (sent += 1),
      product_row: 1,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

let sent = 0;

/** Finds accounts whose queued emails or deliveries a worker would find too late. */
export async function findMissedAccounts({ db }: Database, nowMs: number) {
  const { rows } = await sql`
    select versions.account_id, queued.queue, queued.due_at, queued.noted_at from account_versions as versions
    join accounts on accounts.id = versions.account_id and accounts.disabled_at is null
    join (
      select mails.account_id, 'emails' as queue, mails.due_at, emails_due_at as noted_at
      from mails join account_versions on account_versions.account_id = mails.account_id where state = 'queued'
      union all
      select due.account_id, 'deliveries', due.due_at, deliveries_due_at
      from webhook_deliveries as due join account_versions on account_versions.account_id = due.account_id
      where due.state = 'queued' and not exists (
        select 1 from webhook_deliveries as busy where busy.account_id = due.account_id and busy.state = 'leased'
      )
    ) as queued on queued.account_id = versions.account_id
    where queued.noted_at is null or (queued.noted_at > queued.due_at and queued.noted_at > ${nowMs})`.execute(db);
  return rows;
}

/** Creates an account that sends one email per product of an order. */
export async function newAccountPerProduct(harness: Harness, displayName?: string): Promise<TestAccount> {
  const account = await harness.newAccount(displayName);
  await account.service.emailRules.set({ name: "one_mail_per", value: "product" });
  return account;
}
