import {
  actorNames,
  type EmailRuleName,
  type EmailSettings,
  type EmailState,
} from "../../../contract/index.ts";
import type { LineFacts } from "./line-facts.ts";

/** What a sentence about a mail speaks of. */
export interface ExplanationContext {
  /** What the mail is about, as it follows "for". */
  readonly what: string;
  readonly email: string;
  readonly orderDateMs: number;
  /** When what it is about came to the service. */
  readonly arrivedMs: number;
  readonly isPastOrder: boolean;
  readonly facts: LineFacts;
  /** Of a mail that waits, as they are now; absent of one that is decided, since they may have been others then. */
  readonly settings?: EmailSettings | undefined;
}

let dates: Intl.DateTimeFormat | undefined;

/** A day as people say it, UTC. */
export function formatLongDate(ms: number): string {
  // Made when it is first needed: it costs a part of a start.
  dates ??= new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  return dates.format(ms);
}

const on = (told: { readonly atMs: number } | undefined) => (told ? ` on ${formatLongDate(told.atMs)}` : "");

/** Behind "because". What was known then may be gone by now: then it is said without its day. */
const reasons: Readonly<Record<EmailRuleName, (told: ExplanationContext) => string>> = {
  past_order: ({ isPastOrder, arrivedMs }) =>
    isPastOrder
      ? `the order was taken over as a past one on ${formatLongDate(arrivedMs)}, and past orders bring no mails`
      : `it came to the order on ${formatLongDate(arrivedMs)} with the word that no mail is wanted`,
  requests_off: () => "the store has switched its review requests off",
  stopped_by_hand: () => "the store stopped this mail by hand",
  order_too_old: ({ orderDateMs, settings }) =>
    settings
      ? `the order of ${formatLongDate(orderDateMs)} is older than ${settings.oldest_order_months} months by then`
      : `the order of ${formatLongDate(orderDateMs)} was too old`,
  bad_address: ({ email }) => `${email} is not an address that mail can be sent to`,
  product_blacklisted: () => "the store asks for no reviews of this product",
  mails_stopped: ({ facts: { stopped } }) =>
    stopped?.isWholeOrder === false
      ? `the store stopped the mails for this product of the order${on(stopped)}`
      : `the store stopped the mails of this order${on(stopped)}`,
  unsubscribed: ({ email, facts: { unsubscribed } }) =>
    unsubscribed === undefined || unsubscribed.byName === actorNames.user
      ? `${email} unsubscribed from these mails${on(unsubscribed)}`
      : `the store unsubscribed ${email} from these mails${on(unsubscribed)}`,
  reported_spam: ({ email, facts }) =>
    `an earlier mail to ${email} was reported as spam${on(facts.reported_spam)}`,
  bounced_before: ({ email, facts }) =>
    `an earlier mail to ${email} was refused for good by its mail server${on(facts.bounced_before)}`,
  reviewed_lately: ({ email, facts }) => `${email} reviewed this product already${on(facts.reviewed)}`,
  too_many_to_person: ({ email, settings }) =>
    settings
      ? `${email} has ${settings.most_mails_to_person} review requests within ${settings.most_mails_days} days by then, and gets no more`
      : `${email} had as many review requests at that time as one person gets`,
};

export function formatReason(obstacle: EmailRuleName, told: ExplanationContext): string {
  return reasons[obstacle](told);
}

/** A mail that is there, and what it came to. */
export interface ExplainedEmail {
  readonly state: EmailState;
  readonly reason: string | null;
  readonly dueMs: number;
  readonly sentMs: number | null;
  /** When it was kept back. */
  readonly endedMs: number | undefined;
  readonly attempts: number;
}

/** What became of a mail, in one sentence that can be read to a customer. */
export function formatExplanation(
  mail: ExplainedEmail | undefined,
  decidedBy: EmailRuleName | undefined,
  told: ExplanationContext,
  nowMs: number,
): string {
  const because = decidedBy === undefined ? "" : ` because ${formatReason(decidedBy, told)}`;
  const { what, email } = told;
  if (!mail) return `No mail was sent for ${what}${because}.`;
  const { state, reason, dueMs, sentMs, endedMs } = mail;
  const whenSent = sentMs === null ? "" : ` on ${formatLongDate(sentMs)}`;
  switch (state) {
    case "sent":
      return `A mail for ${what} was sent to ${email}${whenSent}.`;
    case "not_sent":
      return endedMs === undefined || decidedBy === "past_order"
        ? `No mail was sent for ${what}${because || ` (${reason})`}.`
        : `No mail was sent for ${what} on ${formatLongDate(endedMs)}${because || ` (${reason})`}.`;
    case "bounced":
      return `A mail for ${what} was sent to ${email}${whenSent || on(endedMs === undefined ? undefined : { atMs: endedMs })}, and refused for good by its mail server${reason === null ? "" : `: ${reason}`}.`;
    case "failed":
      return `A mail for ${what} to ${email} could not be sent${reason === null ? "" : `: ${reason}`}.`;
    case "sending":
    case "leased":
      return `A mail for ${what} to ${email} is being sent at this moment.`;
    case "queued": {
      const due = formatLongDate(dueMs);
      if (decidedBy !== undefined) {
        return `As things are, no mail will be sent for ${what}${dueMs > nowMs ? ` when it is due on ${due}` : ""}${because}.`;
      }
      if (mail.attempts > 0) {
        return `A mail for ${what} to ${email} could not be handed over yet${reason === null ? "" : ` (${reason})`}, and is tried again on ${due}.`;
      }
      return dueMs > nowMs
        ? `A mail for ${what} will be sent to ${email} on ${due}.`
        : `A mail for ${what} to ${email} has been due since ${due}, and goes as soon as mails are sent.`;
    }
    default:
      return state satisfies never;
  }
}
