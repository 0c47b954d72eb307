import type { ClaimedEmail } from "../engine/emails/sending/claims.ts";
import type { EmailOutcome } from "../engine/emails/sending/outcomes.ts";
import type { EmailQueue } from "../engine/emails/sending/email-queue.ts";
import { ComposeError } from "../email/transports/mime-message.ts";
import type { ComposedMessage, EmailTransport, SendOutcome } from "../email/transports/transport.ts";
import type { OutgoingEmail } from "../email/outgoing-email.ts";
import { Backoff } from "./backoff.ts";
import type { Job, Round } from "./job.ts";
import { withLeaseRenewal } from "./lease-keeper.ts";
import { EmailOutcomes, type EmailResultName, named } from "./email-outcomes.ts";
import type { WorkerContext } from "./worker-context.ts";

export interface EmailJobSettings extends WorkerContext {
  readonly work: EmailQueue;
  readonly transport: EmailTransport;
  /** @throws ComposeError */
  readonly compose: (mail: OutgoingEmail) => Promise<ComposedMessage>;
  readonly leaseMs: number;
}

/** Mails that are claimed at once. */
const claimedAtOnce = 50;

/**
 * How long a claimed mail may wait for its turn; after that it is given back, and its rules are asked again.
 * Assumed: who unsubscribes within this time of a mail may still get it.
 */
const freshForMs = 30_000;

/** How long nothing is sent after the way out could not be reached. */
const unreachableMs = { first: 5_000, longest: 300_000 } as const;

/** Sends the mails that are due, one after another. */
export class EmailJob implements Job<EmailResultName> {
  readonly name = "mails";
  readonly #settings: EmailJobSettings;
  readonly #book: EmailOutcomes;
  readonly #backoff = new Backoff(unreachableMs.first, unreachableMs.longest);
  #restsUntilMs = 0;

  constructor(settings: EmailJobSettings) {
    this.#settings = settings;
    this.#book = new EmailOutcomes(settings);
  }

  async runDue(stop: AbortSignal): Promise<Round<EmailResultName>> {
    const renew = () => this.#settings.work.renew();
    const problem = await withLeaseRenewal(() => this.#sendDue(stop), { ...this.#settings, renew });
    return { counts: this.#book.takeCounts(), problem };
  }

  async nextDueAtMs(): Promise<number | undefined> {
    const { work, clock } = this.#settings;
    const nowMs = clock();
    if (this.#book.isOpen) return nowMs;
    const restsMs = this.#restsUntilMs - nowMs;
    // A clock that was put back would make it a rest of any length.
    return restsMs > 0 && restsMs <= unreachableMs.longest ? this.#restsUntilMs : work.nextDueAt();
  }

  async close(): Promise<void> {
    this.#book.tellUnsettled();
    await this.#settings.transport.close();
  }

  /** @returns why the rest has to wait, if it has */
  async #sendDue(stop: AbortSignal): Promise<string | undefined> {
    const { work, log } = this.#settings;
    // What an earlier round left, where it lost the database.
    await this.#giveBack();
    while (!stop.aborted) {
      const { mails, notSent, recovered } = await work.claim(this.#backoff.isFresh ? claimedAtOnce : 1);
      if (recovered > 0) log.warn({ mails: recovered }, "took over mails that a lost worker had not begun");
      this.#book.recordNotSent(notSent);
      if (mails.length === 0 && notSent.length === 0) return undefined;
      const problem = await this.#sendClaimed(mails, stop);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  async #sendClaimed(mails: readonly ClaimedEmail[], stop: AbortSignal): Promise<string | undefined> {
    const { clock } = this.#settings;
    const freshUntilMs = clock() + freshForMs;
    try {
      for (const claimed of mails) {
        if (stop.aborted || clock() >= freshUntilMs) break;
        const problem = await this.#sendOne(claimed);
        if (problem !== undefined) return problem;
      }
      return undefined;
    } finally {
      await this.#giveBack();
    }
  }

  async #giveBack(): Promise<void> {
    await this.#book.settle();
    await this.#settings.work.release();
  }

  async #sendOne(claimed: ClaimedEmail): Promise<string | undefined> {
    const { mail, obstacle, previousWorker } = claimed;
    if (previousWorker !== undefined) {
      const known = await this.#lookInto(claimed);
      if (known) return this.#recordSent(claimed, known);
    }
    if (obstacle !== undefined) {
      this.#book.end(mail, { state: "kept_back", obstacle });
      return undefined;
    }
    const message = await this.#compose(mail);
    if ("state" in message) {
      this.#book.end(mail, message);
      return undefined;
    }
    const mayBegin = await this.#book.settle(mail);
    return mayBegin ? this.#recordSent(claimed, await this.#send(message)) : undefined;
  }

  /** A failure that nothing is known of may have been one after the message was given. */
  async #send(message: ComposedMessage): Promise<SendOutcome> {
    try {
      return await this.#settings.transport.send(message);
    } catch (error) {
      return { state: "unreachable", problem: (error as Error).message, mayHaveArrived: true };
    }
  }

  /** @returns why the rest has to wait, if it has */
  #recordSent({ mail, previousWorker }: ClaimedEmail, outcome: SendOutcome): string | undefined {
    const { clock, log } = this.#settings;
    if (outcome.state !== "unreachable") {
      if (!this.#backoff.isFresh) log.info("mails can be sent again");
      this.#backoff.reset();
      this.#book.end(mail, outcome);
      return undefined;
    }
    const { problem, mayHaveArrived } = outcome;
    this.#book.end(mail, { state: "unreachable", mayHaveArrived, wasTakenUp: previousWorker !== undefined });
    if (mayHaveArrived) log.warn(named(mail), "the answer was lost: the mail may arrive twice");
    if (this.#backoff.isFresh) log.error({ problem }, "no mail can be sent; it is tried again by itself");
    else log.debug({ problem }, "still no mail can be sent");
    this.#restsUntilMs = clock() + this.#backoff.next();
    return problem;
  }

  /** What can be known of a mail that a lost worker was handing over. */
  async #lookInto({ mail, previousWorker, obstacle }: ClaimedEmail): Promise<SendOutcome | undefined> {
    const { transport, log } = this.#settings;
    const said = { ...named(mail), from: previousWorker };
    const lost = "taken up from a lost worker, which was sending it";
    if (!transport.wasSent) {
      const next =
        obstacle === undefined
          ? "it is sent once more with the same Message-ID, and may arrive twice"
          : "whether it arrived is not known, and it is not sent again";
      log.warn(said, `${lost}; ${next}`);
      return undefined;
    }
    try {
      const wasSent = await transport.wasSent(mail.key);
      log.warn(said, `${lost}; it ${wasSent ? "was sent, and is not sent again" : "had not been sent"}`);
      return wasSent ? { state: "accepted", answer: "sent by a worker that was lost" } : undefined;
    } catch (error) {
      return { state: "unreachable", problem: (error as Error).message };
    }
  }

  async #compose(mail: OutgoingEmail): Promise<ComposedMessage | EmailOutcome> {
    try {
      return await this.#settings.compose(mail);
    } catch (error) {
      const { message } = error as Error;
      const isAddress = error instanceof ComposeError && error.state === "invalid_address";
      return isAddress
        ? { state: "invalid_address", answer: message }
        : { state: "failed", problem: message };
    }
  }
}
