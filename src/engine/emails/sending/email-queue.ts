import type { HandlerContext } from "../../kernel/handler.ts";
import { type Claim, type LeaseHolder, claimEmails } from "./claim.ts";
import { type EmailEvent, recordEmailEvents } from "../../kernel/email-log.ts";
import { beginSending, type EmailResult, type EmailOutcome, recordOutcome } from "./outcomes.ts";
import { readNextDueAt } from "./email-rows.ts";
import type { EngineWork } from "../../kernel/handler.ts";

/** A mail, and what came of it. */
export interface EndedEmail {
  readonly id: number;
  readonly outcome: EmailOutcome;
}

/** What one worker does with the outbox of mails. Other workers of any process may do the same at the same time. */
export interface EmailQueue {
  /**
   * Takes mails that are due, by their rules, and holds them until their lease ends; gives nothing, and takes no
   * write lock, where none is due.
   */
  claim(limit: number): Promise<Claim>;
  /**
   * Writes down what came of mails, and that the next one is about to be handed over, in one commit.
   * @returns what became of each, in their order, and whether the next may be handed over: not where it is not ours
   */
  step(
    ended: readonly EndedEmail[],
    nextId?: number,
  ): Promise<{ readonly fates: readonly EmailResult[]; readonly hasBegun: boolean }>;
  /** Holds what is held for the length of a lease from now on. */
  renew(): Promise<void>;
  /**
   * Gives back what is held: others may take it at once.
   * @returns how many mails
   */
  release(): Promise<number>;
  /** When the next mail is due, or one of a lost worker may be taken up, milliseconds. */
  nextDueAt(): Promise<number | undefined>;
}

/**
 * Assumed: the clocks of machines that work on one database agree to within the length of a lease.
 * @param claimant the worker's name is of no other process, now or ever
 */
export function createEmailQueue(work: EngineWork, claimant: LeaseHolder): EmailQueue {
  const { worker, leaseMs } = claimant;
  const held = new Set<number>();
  return {
    claim: async (limit) => {
      if (!(await work.read(isDue))) return { mails: [], notSent: [], recovered: 0 };
      const claim = await work.write((context) => claimEmails(limit, claimant, context));
      for (const { mail } of claim.mails) held.add(mail.id);
      return claim;
    },
    step: async (ended, nextId) => {
      if (ended.length === 0 && nextId === undefined) return { fates: [], hasBegun: false };
      const done = await work.write((context) => recordStep(ended, nextId, claimant, context));
      for (const { id } of ended) held.delete(id);
      if (nextId !== undefined && !done.hasBegun) held.delete(nextId);
      return done;
    },
    renew: async () => {
      if (held.size === 0) return;
      await work.write(async ({ transaction, nowMs }) => {
        await transaction
          .updateTable("mails")
          .set({ leased_until: nowMs + leaseMs })
          .where("id", "in", [...held])
          .where("worker", "=", worker)
          .where("state", "in", ["leased", "sending"])
          .execute();
      });
    },
    release: async () => {
      const ids = [...held];
      if (ids.length > 0) await work.write((context) => releaseEmails(ids, worker, context));
      held.clear();
      return ids.length;
    },
    nextDueAt: () => work.read(readNextDueAt),
  };
}

async function recordStep(
  ended: readonly EndedEmail[],
  nextId: number | undefined,
  claimant: LeaseHolder,
  context: HandlerContext,
) {
  const fates: EmailResult[] = [];
  const happened: EmailEvent[] = [];
  for (const { id, outcome } of ended) {
    const { fate, events } = await recordOutcome(id, outcome, claimant.worker, context);
    fates.push(fate);
    happened.push(...events);
  }
  const begun = nextId === undefined ? undefined : await beginSending(nextId, claimant, context);
  if (begun) happened.push(begun);
  await recordEmailEvents(happened, context);
  return { fates, hasBegun: begun !== undefined };
}

async function isDue(context: HandlerContext): Promise<boolean> {
  const nextAtMs = await readNextDueAt(context);
  return nextAtMs !== undefined && nextAtMs <= context.nowMs;
}

/** What may have been sent by an earlier worker waits as that one's. */
async function releaseEmails(
  ids: readonly number[],
  worker: string,
  { transaction, nowMs }: HandlerContext,
): Promise<void> {
  const ours = transaction.updateTable("mails").where("id", "in", ids).where("worker", "=", worker);
  await ours
    .set({ state: "queued", worker: null, leased_until: null })
    .where("state", "=", "leased")
    .execute();
  await ours.set({ leased_until: nowMs }).where("state", "=", "sending").execute();
}
