import type { ClaimedMail } from "../engine/emails/sending/claim.ts";
import type { MailOutcome } from "../engine/emails/sending/outcomes.ts";
import type { MailWork } from "../engine/emails/sending/email-queue.ts";
import { UncomposableMail } from "../email/transports/mime-message.ts";
import type { ComposedMessage, MailTransport, SendOutcome } from "../email/transports/transport.ts";
import type { OutgoingMail } from "../email/outgoing-email.ts";
import { Backoff } from "./backoff.ts";
import type { Duty, Round } from "./job.ts";
import { keepLeases } from "./lease-keeper.ts";
import { MailBook, type MailOutcomeName, named } from "./email-outcomes.ts";
import type { WorkerContext } from "./worker-context.ts";

export interface MailDutySettings extends WorkerContext {
  readonly work: MailWork;
  readonly transport: MailTransport;
  /** @throws UncomposableMail */
  readonly compose: (mail: OutgoingMail) => Promise<ComposedMessage>;
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
export class MailDuty implements Duty<MailOutcomeName> {
  readonly name = "mails";
  readonly #settings: MailDutySettings;
  readonly #book: MailBook;
  readonly #backoff = new Backoff(unreachableMs.first, unreachableMs.longest);
  #restsUntilMs = 0;

  constructor(settings: MailDutySettings) {
    this.#settings = settings;
    this.#book = new MailBook(settings);
  }

  async runDue(stop: AbortSignal): Promise<Round<MailOutcomeName>> {
    const renew = () => this.#settings.work.renew();
    const problem = await keepLeases(() => this.#sendDue(stop), { ...this.#settings, renew });
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
      const { mails, keptBack, takenOver } = await work.claim(this.#backoff.isFresh ? claimedAtOnce : 1);
      if (takenOver > 0) log.warn({ mails: takenOver }, "took over mails that a lost worker had not begun");
      this.#book.noteKept(keptBack);
      if (mails.length === 0 && keptBack.length === 0) return undefined;
      const problem = await this.#sendClaimed(mails, stop);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  async #sendClaimed(mails: readonly ClaimedMail[], stop: AbortSignal): Promise<string | undefined> {
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

  async #sendOne(claimed: ClaimedMail): Promise<string | undefined> {
    const { mail, obstacle, takenUpFrom } = claimed;
    if (takenUpFrom !== undefined) {
      const known = await this.#lookInto(claimed);
      if (known) return this.#noteSent(claimed, known);
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
    return mayBegin ? this.#noteSent(claimed, await this.#send(message)) : undefined;
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
  #noteSent({ mail, takenUpFrom }: ClaimedMail, outcome: SendOutcome): string | undefined {
    const { clock, log } = this.#settings;
    if (outcome.state !== "unreachable") {
      if (!this.#backoff.isFresh) log.info("mails can be sent again");
      this.#backoff.reset();
      this.#book.end(mail, outcome);
      return undefined;
    }
    const { problem, mayHaveArrived } = outcome;
    this.#book.end(mail, { state: "unreachable", mayHaveArrived, wasTakenUp: takenUpFrom !== undefined });
    if (mayHaveArrived) log.warn(named(mail), "the answer was lost: the mail may arrive twice");
    if (this.#backoff.isFresh) log.error({ problem }, "no mail can be sent; it is tried again by itself");
    else log.debug({ problem }, "still no mail can be sent");
    this.#restsUntilMs = clock() + this.#backoff.next();
    return problem;
  }

  /** What can be known of a mail that a lost worker was handing over. */
  async #lookInto({ mail, takenUpFrom, obstacle }: ClaimedMail): Promise<SendOutcome | undefined> {
    const { transport, log } = this.#settings;
    const said = { ...named(mail), from: takenUpFrom };
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

  async #compose(mail: OutgoingMail): Promise<ComposedMessage | MailOutcome> {
    try {
      return await this.#settings.compose(mail);
    } catch (error) {
      const { message } = error as Error;
      const isAddress = error instanceof UncomposableMail && error.state === "invalid_address";
      return isAddress
        ? { state: "invalid_address", answer: message }
        : { state: "failed", problem: message };
    }
  }
}
