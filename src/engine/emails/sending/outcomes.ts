import { type RawBuilder, sql } from "kysely";
import type { EmailRuleName } from "../../../contract/index.ts";
import { createDeferredStatement, createStatement } from "../../../storage/statement.ts";
import type { Row } from "../../../storage/tables.ts";
import { deleteAccountRows, selectAccountRows, updateRows } from "../../kernel/account-rows.ts";
import { type EmailEvent, toDetail } from "../../kernel/email-log.ts";
import { accountIdOf, type HandlerContext } from "../../kernel/handler.ts";
import { readEmailPermission, returnToQuota, takeFromQuota } from "../../accounts/email-permissions.ts";
import { suppress } from "../events/suppressions.ts";
import { isOfActiveAccount, type LeaseHolder, markNotSent, toEventSubject } from "./claims.ts";
import { type HeldEmails, holdEmails } from "./holds.ts";
import { queueReminder } from "./reminders.ts";
import { findNextAttempt } from "./retries.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "account" | "ownerId">;

/** A message as it was sent. */
export interface SentMessage {
  readonly subject: string;
  /** The header section, with CRLF line endings. */
  readonly headers: string;
  readonly text: string;
  readonly html: string;
}

/** Outcome of an attempt to compose and send an email. */
export type EmailOutcome =
  | { readonly state: "accepted"; readonly answer: string; readonly message?: SentMessage | undefined }
  | { readonly state: "deferred"; readonly answer: string }
  | {
      readonly state: "bounced" | "blocked" | "invalid_address";
      readonly answer: string;
      /** Whether the address is the cause, so that nothing more is sent to it. */
      readonly isOfAddress?: boolean | undefined;
    }
  /** The transport failed. The attempt does not count, unless the email may have been sent. */
  | {
      readonly state: "unreachable";
      readonly mayHaveArrived?: boolean | undefined;
      /** Whether an earlier worker may have sent the email. */
      readonly wasTakenUp?: boolean | undefined;
    }
  /** The email could not be composed. */
  | { readonly state: "failed"; readonly problem: string }
  /** A rule prevents the email. */
  | { readonly state: "not_sent"; readonly rule: EmailRuleName };

type Unreachable = Extract<EmailOutcome, { readonly state: "unreachable" }>;

/** What an outcome means for the email. `lost`: another worker has leased the email, and nothing was stored. */
export type EmailResult = "sent" | "deferred" | "bounced" | "failed" | "not_sent" | "waiting" | "lost";

type LeasedEmail = Row<"mails">;

interface RecordedOutcome {
  readonly result: EmailResult;
  /** Events that the caller must record. */
  readonly events: readonly EmailEvent[];
}

const leasedStates = ["leased", "sending"] as const;

/**
 * Marks an email as being sent, and counts it toward the account's quota.
 * @returns the event to record; or undefined if the worker no longer holds the lease, the account was disabled, or it may
 * not send the email anymore, so that the email must not be sent
 */
export async function beginSending(
  id: number,
  { worker, leaseMs, usesOutbox = false }: LeaseHolder,
  context: Context,
): Promise<{ readonly event?: EmailEvent; readonly held?: readonly HeldEmails[] }> {
  const { transaction, dialect, nowMs } = context;
  if (!usesOutbox) {
    const [email, permission] = await dialect.runAll([
      () => findLeased(id, worker, context),
      () => readEmailPermission(accountIdOf(context), context),
    ]);
    if (!email) return {};
    const { held } = await holdEmails([email], permission, context);
    if (held.length > 0) return { held };
  }
  const lease = { accountId: accountIdOf(context), id, worker, leasedUntilMs: nowMs + leaseMs };
  const [begun] = (await markSending(transaction, dialect, lease)).rows;
  if (!begun) return {};
  if (!usesOutbox) await takeFromQuota(begun.account_id, context);
  return { event: { ...toEventSubject(begun), event: "begun", key: String(begun.attempts), detail: worker } };
}

interface Lease {
  readonly accountId: number;
  readonly id: number;
  readonly worker: string;
}

type BegunEmail = Pick<LeasedEmail, "id" | "account_id" | "category" | "attempts">;

const isLeased = (slot: (name: keyof Lease) => RawBuilder<unknown>) => sql`
  account_id = ${slot("accountId")} and id = ${slot("id")} and worker = ${slot("worker")}
    and state in (${sql.join(leasedStates.map((state) => sql.lit(state)))})`;

const markSending = createStatement<Lease & { readonly leasedUntilMs: number }, BegunEmail>(
  (slot) => sql`
    update mails set state = 'sending', attempts = attempts + 1, leased_until = ${slot("leasedUntilMs")}
    where ${isLeased(slot)} and ${isOfActiveAccount} returning id, account_id, category, attempts`,
);

const markSent = createStatement<Lease & { readonly nowMs: number }, LeasedEmail>(
  (slot) => sql`
    update mails set state = 'sent', reason = null, sent_at = ${slot("nowMs")}, worker = null, leased_until = null
    where ${isLeased(slot)} returning *`,
);

/**
 * Stores the outcome of an email.
 * Assumed: an email accepted by the mail server counts as delivered until a provider reports otherwise.
 */
export async function recordOutcome(
  id: number,
  outcome: EmailOutcome,
  { worker, usesOutbox = false }: LeaseHolder,
  context: Context,
): Promise<RecordedOutcome> {
  if (outcome.state === "accepted") return recordSent(id, outcome, worker, context);
  const email = await findLeased(id, worker, context);
  if (!email) return { result: "lost", events: [] };
  const wasRefused = outcome.state === "deferred" || (outcome.state === "unreachable" && !outcome.mayHaveArrived);
  if (wasRefused && email.state === "sending" && !usesOutbox) await returnToQuota(email.account_id, context);
  switch (outcome.state) {
    case "deferred":
      return defer(email, outcome.answer, context);
    case "unreachable":
      return requeue(email, outcome, context);
    case "failed":
      return fail(email, outcome.problem, context);
    case "not_sent":
      await markNotSent([{ row: email, rule: outcome.rule }], context);
      return { result: "not_sent", events: [] };
    default: {
      const { state: event, answer: detail, isOfAddress = false } = outcome;
      await release(email, { state: "bounced", reason: detail }, context);
      const { id: mailId, account_id: accountId, email: address } = email;
      if (isOfAddress) await suppress({ accountId, email: address, kind: "bounces", mailId }, context);
      return { result: "bounced", events: [{ ...toEventSubject(email), event, detail }] };
    }
  }
}

async function recordSent(
  id: number,
  { answer: detail, message }: Extract<EmailOutcome, { readonly state: "accepted" }>,
  worker: string,
  context: Context,
): Promise<RecordedOutcome> {
  const { transaction, dialect, nowMs } = context;
  const lease = { accountId: accountIdOf(context), id, worker, nowMs };
  const [sent] = (await markSent(transaction, dialect, lease)).rows;
  if (!sent) return { result: "lost", events: [] };
  if (message) await storeMessage(sent, message, context);
  await queueReminder(sent, context);
  return { result: "sent", events: [{ ...toEventSubject(sent), event: "delivered", detail }] };
}

/** Assumed: a message that cannot be stored in every database, because it contains a null character, is stored without it. */
async function storeMessage(
  { id, account_id: accountId }: LeasedEmail,
  { subject, headers, text, html }: SentMessage,
  { transaction, dialect, nowMs }: Context,
): Promise<void> {
  const storable = (part: string) => part.toWellFormed().replaceAll("\0", "");
  const parts = { subject: storable(subject), headers: storable(headers), text: storable(text), html: storable(html) };
  await insertMessage(transaction, dialect, { accountId, id, nowMs, ...parts });
}

const insertMessage = createDeferredStatement<Omit<Lease, "worker"> & SentMessage & { readonly nowMs: number }>(
  (slot) => sql`
    insert into mail_messages (account_id, mail_row, subject, headers, text, html, sent_at)
    values (${slot("accountId")}, ${slot("id")}, ${slot("subject")}, ${slot("headers")}, ${slot("text")},
      ${slot("html")}, ${slot("nowMs")})`,
);

async function defer(email: LeasedEmail, detail: string, context: Context): Promise<RecordedOutcome> {
  const deferred = toDeferredEvent(email, detail);
  const due_at = await findNextAttempt(email, context);
  if (due_at === undefined) {
    const { result, events } = await fail(email, detail, context);
    return { result, events: [deferred, ...events] };
  }
  await release(email, { state: "queued", reason: detail, due_at }, context);
  return { result: "deferred", events: [deferred] };
}

async function fail(email: LeasedEmail, detail: string, context: Context): Promise<RecordedOutcome> {
  await release(email, { state: "failed", reason: detail }, context);
  return { result: "failed", events: [{ ...toEventSubject(email), event: "failed", detail }] };
}

/**
 * Requeues an email after a transport failure. It goes behind all emails that are due, so that a server that disconnects
 * at one particular email still gets the others.
 */
async function requeue(
  email: LeasedEmail,
  { mayHaveArrived = false, wasTakenUp = false }: Unreachable,
  context: Context,
): Promise<RecordedOutcome> {
  if (mayHaveArrived) return deferUnknown(email, context);
  await deleteAttempt(email, context);
  const change = { state: "queued", due_at: context.nowMs, leased_until: null } as const;
  await update(email, { ...change, ...(!wasTakenUp && noLease) }, context);
  return { result: "waiting", events: [] };
}

const lostResponse = "the connection was lost before the mail server responded; the email may have been sent";

/**
 * Defers an email that may have been sent, since each attempt may produce another copy. The email keeps the name of its
 * worker, from which the next worker concludes that it may have been sent.
 */
async function deferUnknown(email: LeasedEmail, context: Context): Promise<RecordedOutcome> {
  const due_at = await findNextAttempt(email, context);
  if (due_at === undefined) return fail(email, lostResponse, context);
  await update(email, { state: "queued", reason: lostResponse, due_at, leased_until: null }, context);
  return { result: "waiting", events: [toDeferredEvent(email, lostResponse)] };
}

function toDeferredEvent(email: LeasedEmail, detail: string): EmailEvent {
  return { ...toEventSubject(email), event: "deferred", key: String(email.attempts), detail };
}

/** Deletes the record of the current attempt, if this worker started one. */
async function deleteAttempt(email: LeasedEmail, context: Context): Promise<void> {
  const { id, account_id, attempts, worker } = email;
  const { numDeletedRows } = await deleteAccountRows("mail_events", account_id, context.transaction)
    .where("event_key", "=", `${id}:begun:${attempts}`)
    .where("detail", "=", worker)
    .executeTakeFirst();
  if (numDeletedRows > 0n) await update(email, { attempts: attempts - 1 }, context);
}

function findLeased(id: number, worker: string, context: Context): Promise<LeasedEmail | undefined> {
  return selectAccountRows("mails", accountIdOf(context), context.transaction)
    .selectAll()
    .where("id", "=", id)
    .where("worker", "=", worker)
    .where("state", "in", leasedStates)
    .executeTakeFirst();
}

const noLease = { worker: null, leased_until: null } as const;

type Change = Partial<
  Pick<LeasedEmail, "state" | "reason" | "due_at" | "sent_at" | "attempts" | "leased_until" | "worker">
>;

function release(email: LeasedEmail, change: Change, context: Context): Promise<void> {
  const { reason } = change;
  return update(email, { ...change, ...(reason != null && { reason: toDetail(reason) }), ...noLease }, context);
}

async function update({ id, account_id }: LeasedEmail, change: Change, { transaction }: Context): Promise<void> {
  await updateRows("mails", change, { account_id, id }, { transaction });
}
