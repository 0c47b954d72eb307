import { type EmailEvent, recordEmailEvents } from "../../kernel/email-log.ts";
import type { OutgoingEmail } from "../../../email/outgoing-email.ts";
import { recordTemplateUse } from "../template-failures.ts";
import type { EngineWork, HandlerContext } from "../../kernel/handler.ts";
import { type Claim, claimEmails, findNextDueTime, type LeaseHolder } from "./claims.ts";
import type { HeldEmails } from "./holds.ts";
import { beginSending, type EmailOutcome, type EmailResult, recordOutcome } from "./outcomes.ts";

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
   * Evaluates and leases emails that are due. If none is due, returns nothing and takes no write lock.
   */
  claim(limit: number): Promise<Claim>;
  /**
   * Stores the outcomes of emails and that sending the next one begins, in one transaction.
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

/**
 * Assumed: the clocks of machines that share a database differ by less than the duration of a lease.
 * @param holder its worker name must be unique among all processes, including past ones
 */
export function createEmailQueue(work: EngineWork, holder: LeaseHolder): EmailQueue {
  const { worker, leaseMs } = holder;
  const claimedIds = new Set<number>();
  return {
    claim: async (limit) => {
      if (!(await work.read(isDue))) return { emails: [], notSent: [], held: [], recovered: 0 };
      const claim = await work.write((context) => claimEmails(limit, holder, context));
      for (const { email } of claim.emails) claimedIds.add(email.id);
      return claim;
    },
    step: async (ended, nextId) => {
      if (ended.length === 0 && nextId === undefined) return { results: [], hasBegun: false };
      const recorded = await work.write((context) => recordStep(ended, nextId, holder, context));
      for (const { id } of ended) claimedIds.delete(id);
      if (nextId !== undefined && !recorded.hasBegun) claimedIds.delete(nextId);
      return recorded;
    },
    recordTemplateUse: (email, problem) => work.write((context) => recordTemplateUse(email, problem, context)),
    renew: async () => {
      if (claimedIds.size === 0) return;
      await work.write(async ({ transaction, nowMs }) => {
        await transaction
          .updateTable("mails")
          .set({ leased_until: nowMs + leaseMs })
          .where("id", "in", [...claimedIds])
          .where("worker", "=", worker)
          .where("state", "in", ["leased", "sending"])
          .execute();
      });
    },
    release: async () => {
      if (claimedIds.size > 0) await work.write((context) => releaseEmails([...claimedIds], worker, context));
      claimedIds.clear();
    },
    nextDueAt: () => work.read(findNextDueTime),
  };
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
  return { results, hasBegun: begun?.event !== undefined, held: begun?.held };
}

async function isDue(context: HandlerContext): Promise<boolean> {
  const dueAtMs = await findNextDueTime(context);
  return dueAtMs !== undefined && dueAtMs <= context.nowMs;
}

/** Emails in state `sending` may have been sent by an earlier worker: they keep their state, and their lease expires. */
async function releaseEmails(
  ids: readonly number[],
  worker: string,
  { transaction, nowMs }: HandlerContext,
): Promise<void> {
  const claimed = transaction.updateTable("mails").where("id", "in", ids).where("worker", "=", worker);
  await claimed.set({ state: "queued", worker: null, leased_until: null }).where("state", "=", "leased").execute();
  await claimed.set({ leased_until: nowMs }).where("state", "=", "sending").execute();
}
