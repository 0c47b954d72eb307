import type { Platform } from "../../contract/index.ts";
import type { OutputOf } from "../../service/transport.ts";

type ScheduledEmails = OutputOf<"orders.massCreate">["mails"];

/** Follows the platform in the batch key of orders that cause no emails, since a call decides it for all of its orders. */
export const withoutEmails = " without emails";

export const platformOf = (batchKey: string) => batchKey.replace(withoutEmails, "") as Platform;

/** Collects what the service reports about the emails that it schedules for the orders of a run. */
export class WaitingMails {
  #calls = 0;
  #queued = 0;
  #firstDue: string | undefined;
  #isUnknown = false;

  add(scheduled: ScheduledEmails): void {
    this.#calls++;
    this.#isUnknown ||= scheduled === undefined;
    this.#queued += scheduled?.queued ?? 0;
    const due = scheduled?.first_due;
    if (due && (this.#firstDue === undefined || due < this.#firstDue)) this.#firstDue = due;
  }

  describe(): string[] {
    if (this.#calls === 0) return [];
    if (this.#isUnknown) return ["the service does not report how many emails it will send for these orders"];
    if (this.#queued === 0)
      return [
        "no emails will be sent: the service already had these orders, as past orders or with emails, or a rule suppresses the emails (for details, run: starpost mail why <order_id>)",
      ];
    const count = this.#queued === 1 ? "1 email is scheduled" : `${this.#queued} emails are scheduled`;
    return [
      `${count} for the customers of these orders, the first for ${this.#firstDue}; the email rules are applied again when each one is due (to list them, run: starpost mail rules list)`,
    ];
  }
}
