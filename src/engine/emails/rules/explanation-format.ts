import { erasedKind } from "../erased-addresses.ts";
import {
  actorNames,
  describeHold,
  type EmailRuleName,
  type EmailSettings,
  type EmailState,
} from "../../../contract/index.ts";
import { dateOf, dayOf } from "../../kernel/times.ts";
import type { LineFacts } from "./line-facts.ts";

export interface ExplanationContext {
  /** Name of the product, or "this order". */
  readonly subject: string;
  readonly address: string;
  readonly orderDateMs: number;
  /** When the service received the order or product. */
  readonly receivedMs: number;
  readonly isPastOrder: boolean;
  readonly facts: LineFacts;
  /** Current settings, for a queued email. Absent after a decision, because the settings may have changed since. */
  readonly settings?: EmailSettings | undefined;
}

export interface ExplainedEmail {
  readonly state: EmailState;
  readonly reason: string | null;
  readonly dueMs: number;
  readonly sentMs: number | null;
  /** When a rule, a server, or the last failure ended it. */
  readonly endedMs: number | undefined;
  readonly attempts: number;
}

const formatDate = (ms: number): string => dateOf(dayOf(ms));

/** Facts may have been deleted since the decision; then the date is omitted. */
const onDate = (ms: number | null | undefined): string => (ms == null ? "" : ` on ${formatDate(ms)}`);

const reasons: Readonly<Record<EmailRuleName, (context: ExplanationContext) => string>> = {
  past_order: ({ isPastOrder, receivedMs }) =>
    isPastOrder
      ? `the order was imported${onDate(receivedMs)} as a past order, for which no emails are sent`
      : `it was added to the order${onDate(receivedMs)} with emails turned off`,
  requests_off: () => "the store has turned off review requests",
  stopped_by_hand: () => "the store canceled this email",
  held_too_long: () => "it was held for too long because the store may not have sent it earlier",
  order_too_old: ({ orderDateMs, settings }) =>
    settings
      ? `the order of ${formatDate(orderDateMs)} will be older than ${settings.oldest_order_months} months`
      : `the order of ${formatDate(orderDateMs)} was too old`,
  bad_address: ({ address }) => `${address} is not a valid email address`,
  product_blacklisted: () => "the store does not collect reviews for this product",
  mails_stopped: ({ facts: { canceled } }) =>
    canceled?.isWholeOrder === false
      ? `the store canceled the emails for this product of the order${onDate(canceled.atMs)}`
      : `the store canceled the emails for this order${onDate(canceled?.atMs)}`,
  unsubscribed: ({ address, facts: { unsubscribed } }) => {
    const date = onDate(unsubscribed?.atMs);
    if (unsubscribed?.byName === actorNames.store)
      return `the store unsubscribed ${address} from review requests${date}`;
    return unsubscribed?.byName === erasedKind
      ? `the data of ${address} was erased${date}`
      : `${address} unsubscribed from review requests${date}`;
  },
  reported_spam: ({ address, facts }) =>
    `${address} reported an earlier email as spam${onDate(facts.reported_spam?.atMs)}`,
  bounced_before: ({ address, facts }) => `an earlier email to ${address} bounced${onDate(facts.bounced_before?.atMs)}`,
  reviewed_lately: ({ address, facts }) => `${address} already reviewed this product${onDate(facts.reviewed?.atMs)}`,
  too_many_to_person: ({ address, settings }) =>
    settings
      ? `${address} will already have received the maximum of ${settings.most_mails_to_person} review requests in ${settings.most_mails_days} days`
      : `${address} had already received the maximum number of review requests`,
};

/** Explains what happened, or will happen, to an email in one sentence that can be sent to a customer. */
export function formatExplanation(
  email: ExplainedEmail | undefined,
  decidedBy: EmailRuleName | undefined,
  context: ExplanationContext,
  nowMs: number,
): string {
  const { subject, address } = context;
  const because = decidedBy === undefined ? "" : `: ${reasons[decidedBy](context)}`;
  if (!email) return `No email about ${subject} was sent${because}.`;
  const { state, reason, dueMs, sentMs, endedMs } = email;
  const holdReason = describeHold(reason);
  const reasonSuffix = reason === null ? "" : `: ${reason}`;
  switch (state) {
    case "sent":
      return `The email about ${subject} was sent to ${address}${onDate(sentMs)}.`;
    case "not_sent":
      return `The email about ${subject} was not sent${because || reasonSuffix}.`;
    case "bounced":
      return `The email about ${subject} was sent to ${address}${onDate(sentMs ?? endedMs)} but bounced${reasonSuffix}.`;
    case "failed":
      return `The email about ${subject} could not be sent to ${address}${reasonSuffix}.`;
    case "sending":
    case "leased":
      return `The email about ${subject} is being sent to ${address}.`;
    case "queued":
      if (holdReason !== undefined) return `The email about ${subject} to ${address} is held: ${holdReason}.`;
      if (decidedBy !== undefined) return `The email about ${subject} will not be sent${because}.`;
      if (email.attempts > 0) {
        return `The email about ${subject} could not be sent to ${address} yet and will be retried${onDate(dueMs)}${reasonSuffix}.`;
      }
      return dueMs > nowMs
        ? `An email about ${subject} will be sent to ${address}${onDate(dueMs)}.`
        : `The email about ${subject} to ${address} has been due since ${formatDate(dueMs)} and is waiting for a worker.`;
    default:
      return state satisfies never;
  }
}
