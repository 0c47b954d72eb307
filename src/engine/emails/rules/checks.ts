import { type EmailRuleName, emailRuleNames, type EmailSettings, shape } from "../../../contract/index.ts";
import type { LineFacts, OrderLine } from "./line-facts.ts";
import { addMonths } from "../time-ranges.ts";
import { dayMs } from "../../../contract/time.ts";

/** What can be told of a product of an order by itself; the others are told of a mail, or of all mails of a person. */
export type LineRuleName = Exclude<EmailRuleName, "past_order" | "stopped_by_hand" | "too_many_to_person">;

type Check = (line: OrderLine, facts: LineFacts, settings: EmailSettings, onDay: number) => boolean;

const nothingKnown: LineFacts = {};

/** Ends of names that lead nowhere. Source: RFC 6761 6.3, 6.4. */
const deadEnd = /(?:^|\.)(?:invalid|localhost)\.?$/i;

/**
 * Whether mail can be sent to an address at all.
 * Assumed: an order may hold any address of the form local@domain, since shops and marketplaces write what they like
 * there; one whose domain has no dot, or is reserved for what is nowhere, is one that no mail server takes.
 */
function isMailable(email: string): boolean {
  if (!shape.email.safeParse(email).success) return false;
  const domain = email.slice(email.lastIndexOf("@") + 1);
  return domain.replace(/\.$/, "").includes(".") && !deadEnd.test(domain);
}

/** When a rule keeps a mail back that would be sent on a day. */
const checks: Readonly<Record<LineRuleName, Check>> = {
  requests_off: (_line, _facts, settings) => !settings.send_review_requests,
  order_too_old: ({ order_date }, _facts, { order_too_old, oldest_order_months }, onDay) =>
    order_too_old && order_date < startOf(onDay, oldest_order_months),
  bad_address: ({ email }) => !isMailable(email),
  product_blacklisted: ({ blacklisted }) => blacklisted !== 0,
  mails_stopped: (_line, { stopped }) => stopped !== undefined,
  unsubscribed: (_line, { unsubscribed }) => unsubscribed !== undefined,
  reported_spam: (_line, { reported_spam }) => reported_spam !== undefined,
  bounced_before: (_line, facts, { bounced_before }) => bounced_before && facts.bounced_before !== undefined,
  reviewed_lately: (_line, { reviewed }, { reviewed_lately, reviewed_within_months }, onDay) =>
    reviewed_lately && reviewed !== undefined && reviewed.atMs >= startOf(onDay, reviewed_within_months),
};

/** In the order in which they are asked; what follows from the line alone is asked before what is looked up. */
export const lineRuleNames = emailRuleNames.filter((name): name is LineRuleName => name in checks);

/** Whether one rule keeps a product of an order back. */
export function isBlockedBy(
  name: LineRuleName,
  line: OrderLine,
  { facts = nothingKnown, settings, onDay }: LineContext,
): boolean {
  return checks[name](line, facts, settings, onDay);
}

export interface LineContext {
  readonly facts?: LineFacts | undefined;
  readonly settings: EmailSettings;
  /** The day on which the mail would be sent, since the epoch. */
  readonly onDay: number;
}

/** The first rule that keeps a product of an order back. */
export function findBlockingRule(line: OrderLine, judging: LineContext): LineRuleName | undefined {
  return lineRuleNames.find((name) => isBlockedBy(name, line, judging));
}

/** Since when reviews keep a mail back that is sent on a day, milliseconds. */
export function reviewedSinceMs({ reviewed_within_months }: EmailSettings, onDay: number): number {
  return startOf(onDay, reviewed_within_months);
}

/** The last that was asked: mails of one batch are of one day, or of few. */
let last = { day: Number.NaN, months: 0, startMs: 0 };

/** The start of the day that lies months before a day, milliseconds. */
function startOf(day: number, months: number): number {
  if (last.day !== day || last.months !== months) {
    last = { day, months, startMs: addMonths(day, -months) * dayMs };
  }
  return last.startMs;
}
