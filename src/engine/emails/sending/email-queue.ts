import type { HandlerContext } from "../../kernel/handler.ts";
import { type Claim, type Claimant, claimMails } from "./claim.ts";
import { type MailEvent, noteMailEvents } from "../../kernel/email-log.ts";
import { beginMail, type MailFate, type MailOutcome, noteOutcome } from "./outcomes.ts";
import { readNextDueAt } from "./email-rows.ts";
import type { EngineWork } from "../../local-transport.ts";

/** A mail, and what came of it. */
export interface EndedMail {
  readonly id: number;
  readonly outcome: MailOutcome;
}

/** What one worker does with the outbox of mails. Other workers of any process may do the same at the same time. */
export interface MailWork {
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
    ended: readonly EndedMail[],
    nextId?: number,
  ): Promise<{ readonly fates: readonly MailFate[]; readonly hasBegun: boolean }>;
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
export function createMailWork(work: EngineWork, claimant: Claimant): MailWork {
  const { worker, leaseMs } = claimant;
  const held = new Set<number>();
  return {
    claim: async (limit) => {
      if (!(await work.read(isDue))) return { mails: [], keptBack: [], takenOver: 0 };
      const claim = await work.write((context) => claimMails(limit, claimant, context));
      for (const { mail } of claim.mails) held.add(mail.id);
      return claim;
    },
    step: async (ended, nextId) => {
      if (ended.length === 0 && nextId === undefined) return { fates: [], hasBegun: false };
      const done = await work.write((context) => noteStep(ended, nextId, claimant, context));
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
      if (ids.length > 0) await work.write((context) => releaseMails(ids, worker, context));
      held.clear();
      return ids.length;
    },
    nextDueAt: () => work.read(readNextDueAt),
  };
}

async function noteStep(
  ended: readonly EndedMail[],
  nextId: number | undefined,
  claimant: Claimant,
  context: HandlerContext,
) {
  const fates: MailFate[] = [];
  const happened: MailEvent[] = [];
  for (const { id, outcome } of ended) {
    const { fate, events } = await noteOutcome(id, outcome, claimant.worker, context);
    fates.push(fate);
    happened.push(...events);
  }
  const begun = nextId === undefined ? undefined : await beginMail(nextId, claimant, context);
  if (begun) happened.push(begun);
  await noteMailEvents(happened, context);
  return { fates, hasBegun: begun !== undefined };
}

async function isDue(context: HandlerContext): Promise<boolean> {
  const nextAtMs = await readNextDueAt(context);
  return nextAtMs !== undefined && nextAtMs <= context.nowMs;
}

/** What may have been sent by an earlier worker waits as that one's. */
async function releaseMails(
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
