import type { OutputOf } from "../../service/transport.ts";

type Told = OutputOf<"orders.massCreate">["mails"];

/** Collects what the service reports about the emails that it schedules for the orders of a run. */
export class WaitingMails {
  #calls = 0;
  #queued = 0;
  #firstDue: string | undefined;
  #isUntold = false;

  add(told: Told): void {
    this.#calls++;
    this.#isUntold ||= told === undefined;
    this.#queued += told?.queued ?? 0;
    const due = told?.first_due;
    if (due && (this.#firstDue === undefined || due < this.#firstDue)) this.#firstDue = due;
  }

  describe(): string[] {
    if (this.#calls === 0) return [];
    if (this.#isUntold) return ["the service does not report how many emails it will send for these orders"];
    if (this.#queued === 0)
      return [
        "no email was scheduled: the service already had these orders, as past orders or with emails (to find out why, run: starpost mail why <order_id>)",
      ];
    const mails = this.#queued === 1 ? "1 email was scheduled" : `${this.#queued} emails were scheduled`;
    return [
      `${mails} for the customers of these orders, the first for ${this.#firstDue}; the email rules are applied when each is due (to list them, run: starpost mail rules list)`,
    ];
  }
}
