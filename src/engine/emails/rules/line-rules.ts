import {
  emailKeyOf,
  emailRuleNames,
  type EmailSettings,
  type ForecastRuleName,
  shape,
} from "../../../contract/index.ts";
import { dayMs } from "../../../contract/time.ts";
import { addMonths } from "../statistics.ts";
import type { LineFacts, OrderLine } from "./line-facts.ts";

/** Rules that apply to each product of an order. The others apply to an email, or to all emails of a customer. */
export type LineRuleName = Exclude<ForecastRuleName, "too_many_to_person">;

export interface LineContext {
  readonly facts?: LineFacts | undefined;
  readonly settings: EmailSettings;
  /** The day on which the email would be sent, in days since the epoch. */
  readonly onDay: number;
}

type Rule = (line: OrderLine, facts: LineFacts, settings: EmailSettings, onDay: number) => boolean;

/** Domains that do not exist. Source: RFC 6761 6.3, 6.4. */
const reservedDomain = /(?:^|\.)(?:invalid|localhost)\.?$/i;

/**
 * Returns whether email can be sent to an address.
 * Assumed: orders may contain any address of the form local@domain, because shops and marketplaces write placeholders
 * there; no mail server accepts a domain that has no dot or is reserved.
 */
function isDeliverable(address: string): boolean {
  if (!shape.email.safeParse(address).success) return false;
  const domain = emailKeyOf(address).replace(/^.*@/, "");
  return domain.replace(/\.$/, "").includes(".") && !reservedDomain.test(domain);
}

const rules: Readonly<Record<LineRuleName, Rule>> = {
  requests_off: (_line, _facts, settings) => !settings.send_review_requests,
  order_too_old: ({ order_date }, _facts, { order_too_old, oldest_order_months }, onDay) =>
    order_too_old && order_date < monthsBefore(onDay, oldest_order_months),
  bad_address: ({ email }) => !isDeliverable(email),
  product_blacklisted: ({ blacklisted }) => blacklisted !== 0,
  mails_stopped: (_line, { canceled }) => canceled !== undefined,
  unsubscribed: (_line, { unsubscribed }) => unsubscribed !== undefined,
  reported_spam: (_line, { reported_spam }) => reported_spam !== undefined,
  bounced_before: (_line, facts, { bounced_before }) => bounced_before && facts.bounced_before !== undefined,
  reviewed_lately: (_line, { reviewed }, { reviewed_lately, reviewed_within_months }, onDay) =>
    reviewed_lately && reviewed !== undefined && reviewed.atMs >= monthsBefore(onDay, reviewed_within_months),
};

/** In order of evaluation: rules that depend only on the line come before rules that need facts from the database. */
export const lineRuleNames = emailRuleNames.filter((name): name is LineRuleName => name in rules);

/** Finds the first rule that prevents an email about a product of an order. */
export function findBlockingRule(
  line: OrderLine,
  { facts = {}, settings, onDay }: LineContext,
): LineRuleName | undefined {
  return lineRuleNames.find((name) => rules[name](line, facts, settings, onDay));
}

/** Returns the time, in milliseconds, from which reviews count as recent on the given day. */
export function reviewedSinceMs({ reviewed_within_months }: EmailSettings, onDay: number): number {
  return monthsBefore(onDay, reviewed_within_months);
}

/** The last result: the emails of a batch have the same day, or few different ones. */
let last = { day: Number.NaN, months: 0, startMs: 0 };

/** Returns the start of the day that is some months before another, in milliseconds. */
function monthsBefore(day: number, months: number): number {
  if (last.day !== day || last.months !== months) {
    last = { day, months, startMs: addMonths(day, -months) * dayMs };
  }
  return last.startMs;
}
