import { updateAccountRows } from "../../kernel/account-rows.ts";
import { type EmailEvent, recordEmailEvents } from "../../kernel/email-log.ts";
import type { OutgoingEmail } from "../../../email/outgoing-email.ts";
import { recordTemplateUse } from "../templates.ts";
import { DueAccounts } from "../../kernel/due-accounts.ts";
import { renewDue } from "../../kernel/due-times.ts";
import { accountIdOf, type EngineWork, type HandlerContext } from "../../kernel/handler.ts";
import { type Claim, claimEmails, isOfActiveAccount, type LeaseHolder } from "./claims.ts";
import type { HeldEmails } from "./holds.ts";
import { beginSending, type EmailOutcome, type EmailResult, recordOutcome } from "./outcomes.ts";
import { sql } from "kysely";
import { createStatement } from "../../../storage/statement.ts";

/** An email and the outcome of sending it. */
interface EndedEmail {
  readonly id: number;
  readonly outcome: EmailOutcome;
}

interface Step {
  readonly results: readonly EmailResult[];
  readonly hasBegun: boolean;
  /** The next email, if it was held. */
  readonly held?: readonly HeldEmails[] | undefined;
}

/** Access of one worker to the email queue. Workers in any process can use the queue at the same time. */
export interface EmailQueue {
  /**
   * Evaluates and leases emails that are due: an equal share of each account that has any, beginning after the account
   * whose email was sent last. If none is due, returns nothing and writes nothing.
   */
  claim(limit: number): Promise<Claim>;
  /**
   * Stores the outcomes of claimed emails of one account, and that sending another email of it begins, in one transaction.
   * @returns the result for each email, in order, and whether the next email may be sent; false if its lease was lost
   * or it was held
   */
  step(ended: readonly EndedEmail[], nextId?: number): Promise<Step>;
  /**
   * Records whether the account's template could be rendered for an email; `problem` if not.
   * @returns whether the template is disabled now
   */
  recordTemplateUse(email: OutgoingEmail, problem: string | undefined): Promise<boolean>;
  /** Renews the leases of all claimed emails. */
  renew(): Promise<void>;
  /** Releases all claimed emails, so that other workers can claim them immediately. */
  release(): Promise<void>;
  /** Finds when the next email is due or the next lease expires, in milliseconds. */
  nextDueAt(): Promise<number | undefined>;
}

/** @param holder its worker name must be unique among all processes, including past ones */
export function createEmailQueue(work: EngineWork, holder: LeaseHolder): EmailQueue {
  const due = new DueAccounts("emails_due_at");
  /** The account of each claimed email, by the ID of the email. */
  const claimed = new Map<number, number>();
  return {
    claim: async (limit) => {
      const claims = await due.takeInTurn(limit, work, async (accountId, share) => {
        const claim = await work.write(accountId, (context) => claimEmails(share, holder, context));
        for (const { email } of claim.emails) claimed.set(email.id, accountId);
        return { rows: countHandled(claim), result: claim };
      });
      return mergeClaims(claims);
    },
    step: async (ended, nextId) => {
      const accountId = claimed.get(ended[0]?.id ?? nextId ?? 0);
      if (accountId === undefined) return { results: ended.map(() => "lost"), hasBegun: false };
      const recorded = await work.write(accountId, (context) => recordStep(ended, nextId, holder, context));
      for (const { id } of ended) claimed.delete(id);
      if (recorded.hasBegun) due.noteServed(accountId);
      else if (nextId !== undefined) claimed.delete(nextId);
      return recorded;
    },
    recordTemplateUse: (email, problem) =>
      work.write(email.accountId, (context) => recordTemplateUse(email, problem, context)),
    renew: () =>
      forEachAccount(claimed, (accountId, ids) =>
        work.write(accountId, (context) => renewLeases(ids, holder, context)),
      ),
    release: () =>
      forEachAccount(claimed, async (accountId, ids) => {
        await work.write(accountId, (context) => releaseEmails(ids, holder, context));
        for (const id of ids) claimed.delete(id);
      }),
    nextDueAt: () => due.findNextDueTime(work),
  };
}

const countHandled = ({ emails, notSent, held }: Claim) =>
  held.reduce((sum, hold) => sum + hold.emails, emails.length + notSent.length);

function mergeClaims(claims: readonly Claim[]): Claim {
  return {
    emails: claims.flatMap(({ emails }) => emails),
    notSent: claims.flatMap(({ notSent }) => notSent),
    held: claims.flatMap(({ held }) => held),
    recovered: claims.reduce((sum, { recovered }) => sum + recovered, 0),
  };
}

/**
 * Changes the claimed emails of one account after another. If this fails for an account, the others are still changed.
 * @throws the first error
 */
async function forEachAccount(
  claimed: ReadonlyMap<number, number>,
  change: (accountId: number, ids: readonly number[]) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const accountId of new Set(claimed.values())) {
    const ids = [...claimed].flatMap(([id, of]) => (of === accountId ? [id] : []));
    await change(accountId, ids).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

async function recordStep(
  ended: readonly EndedEmail[],
  nextId: number | undefined,
  holder: LeaseHolder,
  context: HandlerContext,
): Promise<Step> {
  const results: EmailResult[] = [];
  const events: EmailEvent[] = [];
  for (const { id, outcome } of ended) {
    const recorded = await recordOutcome(id, outcome, holder, context);
    results.push(recorded.result);
    events.push(...recorded.events);
  }
  const begun = nextId === undefined ? undefined : await beginSending(nextId, holder, context);
  if (begun?.event) events.push(begun.event);
  await recordEmailEvents(events, context);
  await renewDue("emails_due_at", accountIdOf(context), context);
  return { results, hasBegun: begun?.event !== undefined, held: begun?.held };
}

/** Selects those of the emails that the worker still holds. */
function updateHeld(ids: readonly number[], { worker }: LeaseHolder, context: HandlerContext) {
  return updateAccountRows("mails", accountIdOf(context), context.transaction)
    .where("id", "in", ids)
    .where("worker", "=", worker);
}

async function renewLeases(ids: readonly number[], holder: LeaseHolder, context: HandlerContext): Promise<void> {
  await updateHeld(ids, holder, context)
    .set({ leased_until: context.nowMs + holder.leaseMs })
    .where("state", "in", ["leased", "sending"])
    .execute();
}

/** Emails in state `sending` may have been sent by an earlier worker: they keep their state, and their lease expires. */
async function releaseEmails(ids: readonly number[], holder: LeaseHolder, context: HandlerContext): Promise<void> {
  const held = updateHeld(ids, holder, context);
  await held.set({ state: "queued", worker: null, leased_until: null }).where("state", "=", "leased").execute();
  await held.set({ leased_until: context.nowMs }).where("state", "=", "sending").execute();
  await renewDue("emails_due_at", accountIdOf(context), context);
}

const selectOldest = createStatement<{ nowMs: number }, { readonly due_at: number }>(
  (slot) => sql`
    select due_at from mails
    where state = 'queued' and due_at <= ${slot("nowMs")} and held_at is null and ${isOfActiveAccount}
    order by due_at limit 1`,
);

/**
 * Measures how long the oldest email of all accounts has been due, in milliseconds; 0 if none is due. Held emails and
 * those of disabled accounts do not count. An email whose attempt failed is due again at its next attempt.
 */
export async function measureEmailDelay({
  transaction,
  dialect,
  nowMs,
}: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">): Promise<number> {
  const { rows } = await selectOldest(transaction, dialect, { nowMs });
  return rows[0] ? nowMs - rows[0].due_at : 0;
}
