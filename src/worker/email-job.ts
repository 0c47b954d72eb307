import type { OutgoingEmail } from "../email/outgoing-email.ts";
import { ComposeError } from "../email/transports/mime-message.ts";
import type { ComposedMessage, EmailTransport, SendOutcome } from "../email/transports/transport.ts";
import type { ClaimedEmail } from "../engine/emails/sending/claims.ts";
import type { EmailQueue } from "../engine/emails/sending/email-queue.ts";
import type { EmailOutcome, SentMessage } from "../engine/emails/sending/outcomes.ts";
import { Backoff } from "./worker.ts";
import { EmailOutcomes, type EmailResultName, toLogFields } from "./email-outcomes.ts";
import { type Job, type Round, type WorkerContext, withLeaseRenewal } from "./job.ts";
import { templateLimits } from "../contract/index.ts";
import type { TemplateProblem } from "../email/templates/render-custom.ts";

export interface EmailJobSettings extends WorkerContext {
  readonly queue: EmailQueue;
  readonly transport: EmailTransport;
  /** @throws ComposeError */
  readonly compose: (email: OutgoingEmail) => Promise<ComposedMessage>;
  readonly leaseMs: number;
}

/** Number of emails claimed at once. */
const batchSize = 50;

/**
 * How long a claimed email may wait to be sent. After that it is released, and its rules are evaluated again.
 * Assumed: a customer who unsubscribes within this time of an email may still get it.
 */
const maxClaimAgeMs = 30_000;

/** Delays after the transport failed. */
const transportDelayMs = { first: 5_000, max: 300_000 } as const;

/** Sends the emails that are due, one after another. */
export class EmailJob implements Job<EmailResultName> {
  readonly name = "emails";
  readonly #settings: EmailJobSettings;
  readonly #outcomes: EmailOutcomes;
  readonly #templates: TemplateFailures;
  readonly #backoff = new Backoff(transportDelayMs);
  #pausedUntilMs = 0;

  constructor(settings: EmailJobSettings) {
    this.#settings = settings;
    this.#outcomes = new EmailOutcomes(settings);
    this.#templates = new TemplateFailures(settings);
  }

  async runDue(stop: AbortSignal): Promise<Round<EmailResultName>> {
    const renew = () => this.#settings.queue.renew();
    const problem = await withLeaseRenewal(() => this.#sendDue(stop), { ...this.#settings, renew });
    return { problem, ...this.#outcomes.takeCounts() };
  }

  async nextDueAtMs(): Promise<number | undefined> {
    const { queue, clock } = this.#settings;
    const nowMs = clock();
    if (this.#outcomes.isPending) return nowMs;
    const pauseMs = this.#pausedUntilMs - nowMs;
    // A longer pause means that the clock was set back.
    const isPaused = pauseMs > 0 && pauseMs <= transportDelayMs.max;
    return isPaused ? this.#pausedUntilMs : queue.nextDueAt();
  }

  async close(): Promise<void> {
    this.#outcomes.logUnstored();
    await this.#settings.transport.close();
  }

  /** @returns why the remaining emails have to wait, if they do */
  async #sendDue(stop: AbortSignal): Promise<string | undefined> {
    const { queue, log } = this.#settings;
    this.#templates.clear();
    // Finishes an earlier round that lost the database.
    await this.#releaseClaims();
    while (!stop.aborted) {
      const { emails, notSent, held, recovered } = await queue.claim(this.#backoff.isFresh ? batchSize : 1);
      if (recovered > 0) log.warn({ emails: recovered }, "took over emails from a lost worker");
      this.#outcomes.addNotSent(notSent);
      this.#outcomes.addHeld(held);
      if (emails.length === 0 && notSent.length === 0 && held.length === 0) return undefined;
      const problem = await this.#sendClaimed(emails, stop);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  async #sendClaimed(emails: readonly ClaimedEmail[], stop: AbortSignal): Promise<string | undefined> {
    const { clock } = this.#settings;
    const sendUntilMs = clock() + maxClaimAgeMs;
    try {
      for (const claimed of emails) {
        if (stop.aborted || clock() >= sendUntilMs) break;
        const problem = await this.#sendOne(claimed);
        if (problem !== undefined) return problem;
      }
      return undefined;
    } finally {
      await this.#releaseClaims();
    }
  }

  async #releaseClaims(): Promise<void> {
    await this.#outcomes.flush();
    await this.#settings.queue.release();
  }

  async #sendOne(claimed: ClaimedEmail): Promise<string | undefined> {
    const { email, rule, previousWorker } = claimed;
    if (previousWorker !== undefined) {
      const outcome = await this.#checkPreviousAttempt(claimed);
      if (outcome) return this.#addOutcome(claimed, outcome);
    }
    if (rule !== undefined) {
      this.#outcomes.add(email, { state: "not_sent", rule });
      return undefined;
    }
    const message = await this.#compose(email);
    if ("state" in message) {
      this.#outcomes.add(email, message);
      return undefined;
    }
    if (!(await this.#outcomes.flush(email))) return undefined;
    // An unexpected error may have occurred after the message was sent.
    const toOutcome = ({ message: problem }: Error) =>
      ({ state: "unreachable", problem, mayHaveArrived: true }) as const;
    return this.#addOutcome(claimed, await this.#settings.transport.send(message).catch(toOutcome), message);
  }

  /** @returns why the remaining emails have to wait, if they do */
  #addOutcome(
    { email, previousWorker }: ClaimedEmail,
    outcome: SendOutcome,
    message?: ComposedMessage,
  ): string | undefined {
    const { clock, log } = this.#settings;
    if (outcome.state !== "unreachable") {
      if (!this.#backoff.isFresh) log.info("sending emails again");
      this.#backoff.reset();
      this.#outcomes.add(email, outcome.state === "accepted" ? { ...outcome, message: toSent(message) } : outcome);
      return undefined;
    }
    const { problem, mayHaveArrived } = outcome;
    const wasTakenUp = previousWorker !== undefined;
    this.#outcomes.add(email, { state: "unreachable", mayHaveArrived, wasTakenUp });
    if (mayHaveArrived)
      log.warn(toLogFields(email), "connection lost before the response; the email may be sent twice");
    if (this.#backoff.isFresh) log.error({ problem }, "cannot send emails; retrying");
    else log.debug({ problem }, "still cannot send emails");
    this.#pausedUntilMs = clock() + this.#backoff.next();
    return problem;
  }

  /** Returns the outcome of an email that a lost worker was sending, as far as it can be determined. */
  async #checkPreviousAttempt({ email, previousWorker, rule }: ClaimedEmail): Promise<SendOutcome | undefined> {
    const { transport, log } = this.#settings;
    const fields = { ...toLogFields(email), from: previousWorker };
    if (!transport.wasSent) {
      const next =
        rule === undefined
          ? "sending it again with the same Message-ID; it may arrive twice"
          : "it is not sent again, and may or may not have arrived";
      log.warn(fields, `a worker was lost while sending the email: ${next}`);
      return undefined;
    }
    try {
      const wasSent = await transport.wasSent(email.key);
      const finding = wasSent ? "it was sent" : "it was not sent";
      log.warn(fields, `a worker was lost while sending the email: ${finding}`);
      return wasSent ? { state: "accepted", answer: "sent by a worker that was lost" } : undefined;
    } catch (error) {
      return { state: "unreachable", problem: (error as Error).message };
    }
  }

  async #compose(claimed: OutgoingEmail): Promise<ComposedMessage | EmailOutcome> {
    const email = this.#templates.prepare(claimed);
    try {
      const message = await this.#settings.compose(email);
      await this.#templates.record(email, message.templateProblem);
      return message;
    } catch (error) {
      const { message } = error as Error;
      return error instanceof ComposeError && error.state === "invalid_address"
        ? { state: "invalid_address", answer: message }
        : { state: "failed", problem: message };
    }
  }
}

/** The message as it is stored: with its headers, and with bodies that are not encoded. */
function toSent(message: ComposedMessage | undefined): SentMessage | undefined {
  if (!message) return undefined;
  const { subject, text, html, raw } = message;
  const headers = raw.toString("utf8", 0, raw.indexOf("\r\n\r\n"));
  return { subject, headers, text, html };
}

/** Counts failures of the accounts' templates, and stops using those that fail repeatedly. */
export class TemplateFailures {
  readonly #settings: Pick<EmailJobSettings, "queue" | "log">;
  /** Consecutive failures by saved template, including those of emails that were claimed before. */
  readonly #failures = new Map<string, number>();

  constructor(settings: Pick<EmailJobSettings, "queue" | "log">) {
    this.#settings = settings;
  }

  /** Removes the template if it has failed too often since the email was claimed. */
  prepare(email: OutgoingEmail): OutgoingEmail {
    const failures = this.#failures.get(keyOf(email)) ?? 0;
    return failures < templateLimits.failures ? email : { ...email, template: undefined, templateState: undefined };
  }

  /** Records whether the template was rendered for an email; `problem` if not. */
  async record(email: OutgoingEmail, found: TemplateProblem | undefined): Promise<void> {
    const { queue, log } = this.#settings;
    if (!email.templateState) return;
    const problem = found?.message;
    if (found?.isOfTemplate === false) {
      log.warn({ ...toLogFields(email), problem }, "no thread for templates; the built-in one is used");
      return;
    }
    const key = keyOf(email);
    const failures = this.#failures.get(key) ?? email.templateState.failures;
    if (problem === undefined && failures === 0) return;
    this.#failures.set(key, problem === undefined ? 0 : failures + 1);
    const isDisabled = await queue.recordTemplateUse(email, problem);
    if (problem === undefined) return;
    log.warn({ ...toLogFields(email), problem }, "the custom template failed; the built-in one is used");
    if (isDisabled) log.warn(toLogFields(email), "the custom template is disabled until it is saved again");
  }

  /** Forgets the failures, which the queue has stored. */
  clear(): void {
    this.#failures.clear();
  }
}

function keyOf({ accountId, category, templateState }: OutgoingEmail): string {
  return `${accountId} ${category} ${templateState?.savedAtMs}`;
}
