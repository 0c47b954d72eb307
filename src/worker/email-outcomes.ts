import type { EmailCategory } from "../contract/index.ts";
import type { UnsentEmail } from "../engine/emails/sending/unsent-emails.ts";
import type { EmailResult, EmailOutcome } from "../engine/emails/sending/outcomes.ts";
import type { EmailQueue } from "../engine/emails/sending/email-queue.ts";
import type { Counts } from "./job.ts";
import type { WorkLog } from "./worker-context.ts";

/** What mails can come to in a round. */
export type EmailResultName = "sent" | "not_sent" | "deferred" | "bounced" | "failed";

/** A mail as logs name it: never by its address, which `mail show` tells. */
interface EmailRef {
  readonly id: number;
  readonly category: EmailCategory;
}

interface EndedEmail extends EmailRef {
  readonly outcome: EmailOutcome;
}

export const zeroCounts: Counts<EmailResultName> = {
  sent: 0,
  not_sent: 0,
  deferred: 0,
  bounced: 0,
  failed: 0,
};

/** Keeps what came of mails until it is written down, counts it, and says it. */
export class EmailOutcomes {
  readonly #work: Pick<EmailQueue, "step">;
  readonly #log: WorkLog;
  #ended: EndedEmail[] = [];
  #counts: Record<EmailResultName, number> = { ...zeroCounts };

  constructor({ work, log }: { readonly work: Pick<EmailQueue, "step">; readonly log: WorkLog }) {
    this.#work = work;
    this.#log = log;
  }

  /** Whether there is something to write down. */
  get isOpen(): boolean {
    return this.#ended.length > 0;
  }

  end({ id, category }: EmailRef, outcome: EmailOutcome): void {
    this.#ended.push({ id, category, outcome });
  }

  /**
   * Writes down what has ended, and that the next mail begins; where that fails, what has ended is kept.
   * @returns whether the next mail may be handed over
   */
  async settle(next?: EmailRef): Promise<boolean> {
    const ended = this.#ended;
    const { fates, hasBegun } = await this.#work.step(ended, next?.id);
    this.#ended = [];
    for (const [at, fate] of fates.entries()) {
      const mail = ended[at];
      if (mail) this.#tell(mail, fate);
    }
    if (next && !hasBegun) this.#log.info(named(next), "left alone: it is not this worker's any more");
    return hasBegun;
  }

  recordNotSent(kept: readonly UnsentEmail[]): void {
    for (const mail of kept) {
      this.#counts.not_sent += 1;
      this.#log.info({ ...named(mail), reason: mail.obstacle }, "not sent");
    }
  }

  /** Says what nobody will know any more, where the worker ends and it could not be written down. */
  tellUnsettled(): void {
    for (const mail of this.#ended) {
      this.#log.error(
        { ...named(mail), outcome: mail.outcome.state },
        "could not be written down, and is tried again later",
      );
    }
  }

  /** What was counted since the last time. */
  takeCounts(): Counts<EmailResultName> {
    const counts = this.#counts;
    this.#counts = { ...zeroCounts };
    return counts;
  }

  #tell(mail: EndedEmail, fate: EmailResult): void {
    const said = { ...named(mail), outcome: mail.outcome.state };
    if (fate === "lost") {
      this.#log.warn(said, "another worker took the mail over meanwhile; it may arrive twice");
      return;
    }
    if (fate === "waiting") return;
    this.#counts[fate] += 1;
    if (fate === "sent") this.#log.info(named(mail), "sent");
    else if (fate === "deferred") this.#log.info(named(mail), "put off by the server, and tried again later");
    else if (mail.outcome.state === "kept_back")
      this.#log.info({ ...named(mail), reason: mail.outcome.obstacle }, "not sent");
    else if (fate === "bounced") this.#log.warn(said, "refused for good");
    else this.#log.error(said, "given up; mail show tells why");
  }
}

export function named({ id, category }: EmailRef) {
  return { mail: id, category };
}
