import type { UserError } from "../config/user-error.ts";
import type { EmailTransportSettings } from "../email/transports/transport.ts";
import type { OpenWorker } from "./ports.ts";
import type { WorkerLog } from "../worker/job.ts";
import { startWork } from "./worker.ts";

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
    const { log, readEmailSettings, reloadWebhooks, createWorker, findEmailProblem } = this.#settings;
    const stopOld = this.#stop;
    const mail = await readEmailSettings();
    await reloadWebhooks();
    if (!stopOld) {
      log.info({ settings: ["webhooks"] }, "configuration reloaded");
      return;
    }
    const worker = await createWorker(mail);
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
