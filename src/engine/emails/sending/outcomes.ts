import type { EmailRuleName } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { toEventSubject, markNotSent } from "./held-emails.ts";
import { type EmailEvent, toDetail } from "../../kernel/email-log.ts";
import { findNextAttempt } from "./retries.ts";
import { suppress } from "../events/suppressions.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/** What came of an attempt to hand a mail over, or of composing it. */
export type EmailOutcome =
  | { readonly state: "accepted"; readonly answer: string }
  | { readonly state: "deferred"; readonly answer: string }
  | {
      readonly state: "bounced" | "blocked" | "invalid_address";
      readonly answer: string;
      /** Nothing more is sent to the address; not so where the message was at fault. */
      readonly isOfAddress?: boolean | undefined;
    }
  /** Says nothing of this mail: the attempt is taken back, unless the mail may have arrived all the same. */
  | {
      readonly state: "unreachable";
      readonly mayHaveArrived?: boolean | undefined;
      /** An earlier worker may have sent it. */
      readonly wasTakenUp?: boolean | undefined;
    }
  /** It cannot be composed. */
  | { readonly state: "failed"; readonly problem: string }
  | { readonly state: "kept_back"; readonly obstacle: EmailRuleName };

type Unreachable = Extract<EmailOutcome, { readonly state: "unreachable" }>;

/** What became of a mail by its outcome; `lost`: another worker has it by now, and nothing was written down. */
export type EmailResult = "sent" | "deferred" | "bounced" | "failed" | "not_sent" | "waiting" | "lost";

/** A mail that a worker holds. */
type LeasedEmail = Row<"mails">;

/** What became of a mail, and what happened to it, which is to be noted. */
interface Ended {
  readonly fate: EmailResult;
  readonly events: readonly EmailEvent[];
}

const heldStates = ["leased", "sending"] as const;

/**
 * Takes a mail that is about to be handed over.
 * @returns what is to be noted; nothing where the mail is not the worker's any more, and is to be left alone
 */
export async function beginSending(
  id: number,
  { worker, leaseMs }: { readonly worker: string; readonly leaseMs: number },
  { transaction, nowMs }: Context,
): Promise<EmailEvent | undefined> {
  const begun = await transaction
    .updateTable("mails")
    .set((eb) => ({
      state: "sending",
      attempts: eb("attempts", "+", 1),
      leased_until: nowMs + leaseMs,
    }))
    .where("id", "=", id)
    .where("worker", "=", worker)
    .where("state", "in", heldStates)
    .returning(["id", "account_id", "category", "attempts"])
    .executeTakeFirst();
  return begun && { ...toEventSubject(begun), event: "begun", key: String(begun.attempts), detail: worker };
}

/**
 * Writes down what came of a mail.
 * Assumed: a server's yes counts as delivered until a provider says otherwise.
 */
export async function recordOutcome(
  id: number,
  outcome: EmailOutcome,
  worker: string,
  context: Context,
): Promise<Ended> {
  if (outcome.state === "accepted") return recordSent(id, outcome.answer, worker, context);
  const mail = await findHeld(id, worker, context);
  if (!mail) return { fate: "lost", events: [] };
  switch (outcome.state) {
    case "deferred":
      return putOff(mail, outcome.answer, context);
    case "unreachable":
      return takeBack(mail, outcome, context);
    case "failed":
      return giveUp(mail, outcome.problem, context);
    case "kept_back":
      await markNotSent([{ row: mail, obstacle: outcome.obstacle }], context);
      return { fate: "not_sent", events: [] };
    default: {
      const { state: event, answer: detail, isOfAddress = false } = outcome;
      await end(mail, { state: "bounced", reason: detail }, context);
      const { id: mailId, account_id: accountId, email } = mail;
      if (isOfAddress) await suppress({ accountId, email, kind: "bounces", mailId }, context);
      return { fate: "bounced", events: [{ ...toEventSubject(mail), event, detail }] };
    }
  }
}

async function recordSent(
  id: number,
  detail: string,
  worker: string,
  { transaction, nowMs }: Context,
): Promise<Ended> {
  const sent = await transaction
    .updateTable("mails")
    .set({ state: "sent", reason: null, sent_at: nowMs, ...noLease })
    .where("id", "=", id)
    .where("worker", "=", worker)
    .where("state", "in", heldStates)
    .returning(["id", "account_id", "category"])
    .executeTakeFirst();
  if (!sent) return { fate: "lost", events: [] };
  return { fate: "sent", events: [{ ...toEventSubject(sent), event: "delivered", detail }] };
}

async function putOff(mail: LeasedEmail, detail: string, context: Context): Promise<Ended> {
  const deferred: EmailEvent = {
    ...toEventSubject(mail),
    event: "deferred",
    key: String(mail.attempts),
    detail,
  };
  const due_at = await findNextAttempt(mail, context);
  if (due_at === undefined) {
    const { fate, events } = await giveUp(mail, detail, context);
    return { fate, events: [deferred, ...events] };
  }
  await end(mail, { state: "queued", reason: detail, due_at }, context);
  return { fate: "deferred", events: [deferred] };
}

async function giveUp(mail: LeasedEmail, detail: string, context: Context): Promise<Ended> {
  await end(mail, { state: "failed", reason: detail }, context);
  return { fate: "failed", events: [{ ...toEventSubject(mail), event: "failed", detail }] };
}

/**
 * Nothing is known of the mail, so that it waits behind all that is due: a server that breaks off at one mail alone has
 * to take the others meanwhile.
 */
async function takeBack(
  mail: LeasedEmail,
  { mayHaveArrived = false, wasTakenUp = false }: Unreachable,
  context: Context,
): Promise<Ended> {
  if (mayHaveArrived) return putOffUnknown(mail, context);
  await takeBackAttempt(mail, context);
  const waits = { state: "queued", due_at: context.nowMs, leased_until: null } as const;
  await update(mail.id, { ...waits, ...(!wasTakenUp && noLease) }, context);
  return { fate: "waiting", events: [] };
}

const lostAnswer = "the answer of the mail server was lost: the mail may have arrived";

/**
 * Waits as a mail that was put off, since each attempt may be one more message to its reader; it keeps its worker's name,
 * so that whoever takes it next knows.
 */
async function putOffUnknown(mail: LeasedEmail, context: Context): Promise<Ended> {
  const due_at = await findNextAttempt(mail, context);
  if (due_at === undefined) return giveUp(mail, lostAnswer, context);
  await update(mail.id, { state: "queued", reason: lostAnswer, due_at, leased_until: null }, context);
  const event = { event: "deferred", key: String(mail.attempts), detail: lostAnswer } as const;
  return { fate: "waiting", events: [{ ...toEventSubject(mail), ...event }] };
}

/** Nothing where this worker has not begun one. */
async function takeBackAttempt(
  { id, account_id, attempts, worker }: LeasedEmail,
  context: Context,
): Promise<void> {
  const { numDeletedRows } = await context.transaction
    .deleteFrom("mail_events")
    .where("account_id", "=", account_id)
    .where("event_key", "=", `${id}:begun:${attempts}`)
    .where("detail", "=", worker)
    .executeTakeFirst();
  if (numDeletedRows > 0n) await update(id, { attempts: attempts - 1 }, context);
}

function findHeld(id: number, worker: string, { transaction }: Context): Promise<LeasedEmail | undefined> {
  return transaction
    .selectFrom("mails")
    .selectAll()
    .where("id", "=", id)
    .where("worker", "=", worker)
    .where("state", "in", heldStates)
    .executeTakeFirst();
}

const noLease = { worker: null, leased_until: null } as const;

type Change = Partial<
  Pick<LeasedEmail, "state" | "reason" | "due_at" | "sent_at" | "attempts" | "leased_until" | "worker">
>;

/** The worker holds the mail no more. */
function end({ id }: LeasedEmail, change: Change, context: Context): Promise<void> {
  const { reason } = change;
  const freed = { ...change, ...(reason != null && { reason: toDetail(reason) }) };
  return update(id, { ...freed, ...noLease }, context);
}

async function update(id: number, change: Change, { transaction }: Context): Promise<void> {
  await transaction.updateTable("mails").set(change).where("id", "=", id).execute();
}
