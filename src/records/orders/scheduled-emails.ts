import type { OutputOf } from "../../service/transport.ts";

type Told = OutputOf<"orders.massCreate">["mails"];

/** What a service said of the mails that wait for the orders of a run, call by call. */
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
    if (this.#isUntold) return ["the service does not say how many mails it will send for these orders"];
    if (this.#queued === 0)
      return [
        "no mail is queued: the service had these orders before, as past ones or already mailed (starpost mail why <order_id>)",
      ];
    const mails = this.#queued === 1 ? "1 mail is queued" : `${this.#queued} mails are queued`;
    return [
      `${mails} for the customers of these orders, the first due on ${this.#firstDue}; each is judged by the rules on its day (starpost mail rules list)`,
    ];
  }
}
