import { templateLimits } from "../contract/index.ts";
import type { OutgoingEmail } from "../email/outgoing-email.ts";
import type { TemplateProblem } from "../email/templates/render-custom.ts";
import type { EmailQueue } from "../engine/emails/sending/email-queue.ts";
import { toLogFields } from "./email-outcomes.ts";
import type { WorkerLog } from "./job.ts";

interface Settings {
  readonly queue: Pick<EmailQueue, "recordTemplateUse">;
  readonly log: WorkerLog;
}

/** Counts failures of the accounts' templates, and stops using those that fail repeatedly. */
export class TemplateFailures {
  readonly #settings: Settings;
  /** Consecutive failures by saved template, including those of emails that were claimed before. */
  readonly #failures = new Map<string, number>();

  constructor(settings: Settings) {
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
