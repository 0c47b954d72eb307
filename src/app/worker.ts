import { hostname } from "node:os";
import type { OpenWorker } from "./ports.ts";
import { sleep } from "../client/sleep.ts";
import { zeroCounts } from "../worker/email-outcomes.ts";
import { EmailJob } from "../worker/email-job.ts";
import { type Job, type OnResult, sleepUntilAborted, type WorkerLog } from "../worker/job.ts";
import { createCleanupJobs } from "../worker/cleanup-jobs.ts";
import { createWebhookJob } from "../worker/webhooks/webhook-job.ts";
import { createWebhookPost } from "../worker/webhooks/webhook-request.ts";
import { runWorker, runWorkerOnce } from "../worker/worker.ts";
import type { EngineWork } from "../engine/kernel/handler.ts";
import { createEmailQueue } from "../engine/emails/sending/email-queue.ts";
import { createWebhookQueue } from "../engine/webhooks/webhook-queue.ts";
import { closeTemplateThreads } from "../email/templates/render-custom.ts";
import { composeMessage } from "../email/transports/mime-message.ts";
import { openEmailTransport } from "../email/transports/open-transport.ts";
import type { EmailTransportSettings } from "../email/transports/transport.ts";
import type { UserError } from "../config/user-error.ts";

/** Assumed: no healthy worker pauses for longer than a minute. */
const defaultLeaseMs = 60_000;

/** Pause of a background worker between two searches for accounts to clean up, so that it stays idle with many accounts. */
const searchPauseMs = 10_000;

/** How long to wait for deliveries in flight when the worker is stopped, in milliseconds. */
const finishWithinMs = 20_000;

interface WorkerParts {
  readonly work: EngineWork;
  readonly mail: EmailTransportSettings;
  /** Whether to send emails, too (default: true). If not, they stay queued. */
  readonly sendsEmails?: boolean | undefined;
  readonly leaseMs?: number | undefined;
  /** The version of the program. */
  readonly version: string;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: WorkerLog;
  readonly onResult?: OnResult | undefined;
}

/** Creates a worker that sends the emails and webhooks of an open database. */
export async function createWorker(parts: WorkerParts): Promise<OpenWorker> {
  const { work, mail, sendsEmails = true, leaseMs = defaultLeaseMs, version, clock, random, log, onResult } = parts;
  // Accounts see this name in their delivery logs, so it does not contain the host name.
  const worker = `worker-${random(6).toString("hex")}`;
  const transport = await openEmailTransport(mail, clock);
  const jobContext = { clock, sleep, log, onResult };
  const emails = new EmailJob({
    ...jobContext,
    queue: createEmailQueue(work, { worker, leaseMs, usesOutbox: mail.kind === "outbox" }),
    transport,
    compose: (outgoing) => composeMessage(outgoing, { from: mail.from, dkim: mail.dkim, nowMs: clock() }),
    leaseMs,
  });
  const webhooks = createWebhookJob({
    ...jobContext,
    queue: createWebhookQueue(work, { worker, leaseMs }),
    post: createWebhookPost({ clock, version }),
    leaseMs,
  });
  const listJobs = (pauseMs: number): readonly Job[] => [
    ...(sendsEmails ? [emails] : []),
    webhooks,
    ...createCleanupJobs({ ...jobContext, work, worker, leaseMs, pauseMs }),
  ];
  const emailTarget = transport.describe();
  const begin = () =>
    log.info({ worker, host: hostname(), mails_to: sendsEmails ? emailTarget : null }, "worker started");
  return {
    emailTarget,
    run: (stop) => {
      begin();
      return endSoon(runWorker(listJobs(searchPauseMs), jobContext, stop), stop, log);
    },
    runOnce: async (stop) => {
      begin();
      const rounds = await endSoon(runWorkerOnce(listJobs(0), stop), stop, log);
      const done = rounds?.get("emails");
      return {
        state: stop.aborted ? "interrupted" : "completed",
        mails: { ...zeroCounts, ...done?.counts },
        webhooks: { ...rounds?.get("webhooks")?.counts },
        held: done?.held ?? 0,
        problem: done?.problem ?? null,
      };
    },
    close: async () => {
      if (sendsEmails) await emails.close();
      await closeTemplateThreads();
    },
  };
}

/** Starts a worker in the background. Returns a function that stops it. */
export function startWork(worker: OpenWorker): () => Promise<void> {
  const stop = new AbortController();
  const work = worker.run(stop.signal);
  return async () => {
    stop.abort();
    await work;
    await worker.close();
  };
}

/**
 * Waits until the work has finished, but only for a limited time after `stop` is aborted.
 * Assumed: an email whose delivery is aborted is sent again later, and may arrive twice.
 */
async function endSoon<T>(work: Promise<T>, stop: AbortSignal, log: WorkerLog): Promise<T | undefined> {
  const ended = new AbortController();
  const cutOff = new Promise<undefined>((resolve) => {
    const wait = async () => {
      await sleepUntilAborted(sleep, finishWithinMs, ended.signal);
      if (ended.signal.aborted) return;
      log.warn({ after_seconds: finishWithinMs / 1_000 }, "what was in flight is cut off");
      resolve(undefined);
    };
    if (stop.aborted) void wait();
    stop.addEventListener("abort", () => void wait(), { once: true });
  });
  try {
    return await Promise.race([work, cutOff]);
  } finally {
    ended.abort();
  }
}

interface ReloadSettings {
  readonly log: WorkerLog;
  /** Reads the settings of emails. @throws UserError */
  readonly readEmailSettings: () => Promise<EmailTransportSettings>;
  /** Reads and applies the settings of webhooks. @throws UserError */
  readonly reloadWebhooks: () => Promise<void>;
  readonly createWorker: (mail: EmailTransportSettings) => Promise<OpenWorker>;
  /** Why emails cannot be sent with these settings, if so; they stay queued. */
  readonly findEmailProblem: (mail: EmailTransportSettings) => UserError | undefined;
}

/** What a server does besides answering calls, with settings that can be read again. */
export class WorkerReload {
  readonly #settings: ReloadSettings;
  #stop: (() => Promise<void>) | undefined;
  #reloading: Promise<void> = Promise.resolve();

  /** @param worker undefined if another process sends emails and webhooks */
  constructor(settings: ReloadSettings, worker: OpenWorker | undefined) {
    this.#settings = settings;
    this.#stop = worker && startWork(worker);
  }

  /** Reads the settings again, one reload after another. Invalid settings are logged, and the old ones stay in use. */
  reload(): Promise<void> {
    const { log } = this.#settings;
    this.#reloading = this.#reloading.then(() =>
      this.#reload().catch((error: Error) =>
        log.error({ error: error.message }, "configuration not reloaded; the old one stays in use"),
      ),
    );
    return this.#reloading;
  }

  async #reload(): Promise<void> {
    const { log, readEmailSettings, reloadWebhooks, findEmailProblem } = this.#settings;
    const stopOld = this.#stop;
    const mail = await readEmailSettings();
    await reloadWebhooks();
    if (!stopOld) {
      log.info({ settings: ["webhooks"] }, "configuration reloaded");
      return;
    }
    const worker = await this.#settings.createWorker(mail);
    // What is in flight is finished with the old settings.
    await stopOld();
    this.#stop = startWork(worker);
    const problem = findEmailProblem(mail)?.message;
    if (problem !== undefined) log.warn({ problem }, "emails stay queued");
    log.info({ settings: ["mail", "webhooks"] }, "configuration reloaded");
  }

  async close(): Promise<void> {
    await this.#reloading;
    await this.#stop?.();
  }
}
