import { describeHold, type EmailCategory } from "../contract/index.ts";
import type { HeldEmails } from "../engine/emails/sending/holds.ts";
import type { EmailQueue } from "../engine/emails/sending/email-queue.ts";
import type { EmailOutcome, EmailResult } from "../engine/emails/sending/outcomes.ts";
import type { UnsentEmail } from "../engine/emails/sending/claims.ts";
import type { Counts, OnResult, WorkerLog } from "./job.ts";

/** Results that are counted in a round. */
export type EmailResultName = "sent" | "not_sent" | "deferred" | "bounced" | "failed";

/** Identifies an email in logs. Addresses are never logged; `mail show` prints them. */
interface EmailRef {
  /** Undefined if the email was not sent because of a rule. */
  readonly appKey?: string | undefined;
  readonly id: number;
  readonly category: EmailCategory;
}

interface OwnedEmail extends EmailRef {
  readonly accountId: number;
}

interface EndedEmail extends OwnedEmail {
  readonly outcome: EmailOutcome;
}

export const zeroCounts: Counts<EmailResultName> = { sent: 0, not_sent: 0, deferred: 0, bounced: 0, failed: 0 };

/** What is counted as `emails`, for metrics. */
export const emailResults = [...(Object.keys(zeroCounts) as EmailResultName[]), "held"] as const;

interface OutcomesSettings {
  readonly queue: Pick<EmailQueue, "step">;
  readonly log: WorkerLog;
  readonly onResult?: OnResult | undefined;
}

/** Collects outcomes until they are stored, counts them, and logs them. */
export class EmailOutcomes {
  readonly #queue: Pick<EmailQueue, "step">;
  readonly #log: WorkerLog;
  readonly #onResult: OnResult | undefined;
  #ended: EndedEmail[] = [];
  #counts: Record<EmailResultName, number> = { ...zeroCounts };
  #held = 0;

  constructor({ queue, log, onResult }: OutcomesSettings) {
    this.#queue = queue;
    this.#log = log;
    this.#onResult = onResult;
  }

  /** Whether there are outcomes to store. */
  get isPending(): boolean {
    return this.#ended.length > 0;
  }

  add({ id, accountId, appKey, category }: OwnedEmail, outcome: EmailOutcome): void {
    this.#ended.push({ id, accountId, appKey, category, outcome });
  }

  /**
   * Stores the collected outcomes, account by account, and that sending the next email begins. Keeps the outcomes of the
   * accounts for which this fails.
   * @returns whether the next email may be sent
   * @throws the first error
   */
  async flush(next?: OwnedEmail): Promise<boolean> {
    const errors: unknown[] = [];
    const accountIds = new Set(this.#ended.map(({ accountId }) => accountId));
    if (next) accountIds.delete(next.accountId);
    for (const accountId of accountIds) {
      await this.#flushAccount(accountId).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
    return next !== undefined && this.#flushAccount(next.accountId, next);
  }

  async #flushAccount(accountId: number, next?: OwnedEmail): Promise<boolean> {
    const ended = this.#ended.filter((email) => email.accountId === accountId);
    const { results, hasBegun, held } = await this.#queue.step(ended, next?.id);
    this.#ended = this.#ended.filter((email) => !ended.includes(email));
    for (const [index, result] of results.entries()) {
      const email = ended[index];
      if (email) this.#report(email, result);
    }
    if (held) this.addHeld(held);
    else if (next && !hasBegun) this.#log.info(toLogFields(next), "skipped; the lease was lost");
    return hasBegun;
  }

  addNotSent(emails: readonly UnsentEmail[]): void {
    for (const email of emails) {
      this.#count("not_sent");
      this.#log.info({ ...toLogFields(email), reason: email.rule }, "not sent");
    }
  }

  addHeld(held: readonly HeldEmails[]): void {
    for (const { appKey, reason, emails } of held) {
      this.#held += emails;
      this.#onResult?.("emails", "held", emails);
      this.#log.warn({ account: appKey, emails, reason }, `emails held: ${describeHold(reason)}`);
    }
  }

  /** Logs the outcomes that could not be stored before the worker ends. */
  logUnstored(): void {
    for (const email of this.#ended) {
      const fields = { ...toLogFields(email), outcome: email.outcome.state };
      this.#log.error(fields, "could not store the outcome; the email will be tried again");
    }
  }

  /** Returns the counts since the last call, and the number of emails that were held since, if any. */
  takeCounts(): { readonly counts: Counts<EmailResultName>; readonly held: number | undefined } {
    const taken = { counts: this.#counts, held: this.#held || undefined };
    this.#counts = { ...zeroCounts };
    this.#held = 0;
    return taken;
  }

  #count(result: EmailResultName): void {
    this.#counts[result] += 1;
    this.#onResult?.("emails", result, 1);
  }

  #report(email: EndedEmail, result: EmailResult): void {
    const fields = { ...toLogFields(email), outcome: email.outcome.state };
    if (result === "lost") {
      this.#log.warn(fields, "another worker took over the email; it may be sent twice");
      return;
    }
    if (result === "waiting") return;
    this.#count(result);
    if (result === "sent") this.#log.info(toLogFields(email), "sent");
    else if (result === "deferred") this.#log.info(toLogFields(email), "deferred by the mail server");
    else if (email.outcome.state === "not_sent")
      this.#log.info({ ...toLogFields(email), reason: email.outcome.rule }, "not sent");
    else if (result === "bounced") this.#log.warn(fields, "bounced");
    else this.#log.error(fields, "failed; for the reason, run `starpost mail show`");
  }
}

export function toLogFields({ id, appKey, category }: EmailRef) {
  return { ...(appKey !== undefined && { account: appKey }), mail: id, category };
}
