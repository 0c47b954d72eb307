import type * as z from "zod";
import {
  actorNames,
  type contract,
  describeEmailRule,
  describeHold,
  type EmailRuleName,
  emailRuleNames,
  type EmailSettings,
  type EmailState,
  type ExplainedDecision,
  findRuleSwitch,
  type RuleEvaluation,
  type RuleResult,
} from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { dateOf, dayOf, iso } from "../../kernel/times.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";
import { readDroppedProducts } from "./email-lines.ts";
import { findDecidingRule } from "./evaluation.ts";
import { exceedsLimitWhenDue } from "./send-calendar.ts";
import { findLineFacts, type LineFacts } from "./line-facts.ts";
import { findBlockingRule, type LineRuleName, reviewedSinceMs } from "./line-rules.ts";
import { type EmailCase, findOrder, type OrderedProduct, readEmailCases } from "./order-lines.ts";
import { erasedKind } from "../events/suppressions.ts";

type Query = z.output<typeof contract.emails.explain.input>;

/**
 * Explains what happened to the emails of an order.
 * @throws ServiceError `recordNotFound` if the account does not have the order, or the order does not contain the product
 * Assumed: a queued email is evaluated as of its due day with current data. For an email that was already decided, the
 * rules before the deciding one count as passed, even if they would apply now.
 */
export async function explainEmails(
  query: Query,
  context: HandlerContext,
): Promise<z.output<typeof contract.emails.explain.output>> {
  const order = await findOrder(query.order_id, context);
  const settings = await readEmailSettings(context, order.account_id);
  const cases = await readEmailCases(order, query.product_id, context);
  const decisions: ExplainedDecision[] = [];
  for (const emailCase of cases) decisions.push(await explainCase(emailCase, { order, settings }, context));
  return {
    order_id: order.order_id,
    order_date: iso(order.order_date),
    email: order.email,
    customer_name: order.customer_name,
    created_at: iso(order.created_at),
    sends_mail: order.sends_mail === 1,
    decisions,
  };
}

interface ExplainedOrder {
  readonly order: Row<"orders">;
  readonly settings: EmailSettings;
}

async function explainCase(
  emailCase: EmailCase,
  explained: ExplainedOrder,
  context: HandlerContext,
): Promise<ExplainedDecision> {
  const { email } = emailCase;
  const endedMs = email && (await findEndTime(email, context));
  const lines = await evaluateLines(emailCase, endedMs, explained, context);
  const rules = lines.map(({ rule }) => rule);
  const decidedBy = await decide(emailCase, rules, explained, context);
  const isPending = email?.state === "queued" && decidedBy === undefined;
  const dropped = email && email.state !== "queued" ? readDroppedProducts(email) : {};
  return {
    products: lines.map(({ product: { product_id, name, product_row }, rule = null }) => ({
      product_id,
      name,
      dropped_by: isPending ? rule : (dropped[product_row] ?? null),
    })),
    is_whole_order: email?.product_row === wholeOrderRow,
    mail_id: email?.id ?? null,
    state: (email?.state as EmailState | undefined) ?? null,
    decided_by: decidedBy ?? null,
    at: email ? iso(email.sent_at ?? endedMs ?? email.due_at) : null,
    sentence: formatSentence({ emailCase, endedMs, lines, decidedBy }, explained, context),
    rules: listRules(decidedBy, explained.settings),
  };
}

interface EvaluatedProduct {
  readonly product: OrderedProduct;
  readonly facts: LineFacts;
  readonly rule: LineRuleName | undefined;
}

/** Evaluates the products as of today, or as of the due day of a queued email. */
async function evaluateLines(
  { email, products }: EmailCase,
  endedMs: number | undefined,
  { order, settings }: ExplainedOrder,
  context: HandlerContext,
): Promise<EvaluatedProduct[]> {
  const onDay = Math.max(dayOf(context.nowMs), dayOf(email?.due_at ?? 0));
  // A past decision is explained with the reviews that counted at that time.
  const factsOnDay = email?.state === "queued" ? onDay : dayOf(endedMs ?? context.nowMs);
  const query = {
    accountId: order.account_id,
    category: "map",
    reviewedSinceMs: reviewedSinceMs(settings, factsOnDay),
  };
  const factsById = await findLineFacts(products, query, context);
  return products.map((product) => {
    const facts = factsById.get(product.id) ?? {};
    return { product, facts, rule: findBlockingRule(product, { facts, settings, onDay }) };
  });
}

interface EvaluatedCase {
  readonly emailCase: EmailCase;
  readonly endedMs: number | undefined;
  readonly lines: readonly EvaluatedProduct[];
  readonly decidedBy: EmailRuleName | undefined;
}

function formatSentence(
  { emailCase: { email, products }, endedMs, lines, decidedBy }: EvaluatedCase,
  { order, settings }: ExplainedOrder,
  { nowMs }: HandlerContext,
): string {
  const decidingLine = lines.find(({ rule }) => rule === decidedBy) ?? lines[0];
  const isWholeOrder = email?.product_row === wholeOrderRow;
  const context: ExplanationContext = {
    subject: isWholeOrder ? "this order" : (products[0]?.name ?? "this order"),
    address: email?.email ?? order.email,
    orderDateMs: order.order_date,
    receivedMs: decidingLine?.product.receivedMs ?? order.created_at,
    isPastOrder: order.sends_mail === 0,
    facts: decidingLine?.facts ?? {},
    settings: email?.state === "queued" ? settings : undefined,
  };
  const because = decidedBy === undefined ? "" : `: ${reasons[decidedBy](context)}`;
  if (!email) return `No email about ${context.subject} was sent${because}.`;
  return formatEmail(email, { because, endedMs, nowMs }, context);
}

/** Finds the rule that prevented the email, or would prevent it now. */
async function decide(
  { email }: EmailCase,
  rules: readonly (LineRuleName | undefined)[],
  { settings }: ExplainedOrder,
  context: HandlerContext,
): Promise<EmailRuleName | undefined> {
  if (!email) return "past_order";
  if (email.state === "not_sent") return emailRuleNames.find((name) => name === email.reason);
  if (email.state !== "queued") return undefined;
  if (!rules.includes(undefined)) return findDecidingRule(rules);
  return (await exceedsLimitWhenDue(email, settings, context)) ? "too_many_to_person" : undefined;
}

/** The rules that can apply to emails of orders. */
const orderRuleNames: readonly EmailRuleName[] = emailRuleNames.filter((name) => name !== "nothing_written");

function listRules(decidedBy: EmailRuleName | undefined, settings: EmailSettings): RuleEvaluation[] {
  const deciding = decidedBy === undefined ? orderRuleNames.length : orderRuleNames.indexOf(decidedBy);
  return orderRuleNames.map((name, index) => ({
    name,
    description: describeEmailRule(name, settings),
    result: index === deciding ? "decides" : index > deciding ? "not_asked" : resultOf(name, settings),
  }));
}

function resultOf(name: EmailRuleName, settings: EmailSettings): RuleResult {
  const switchName = findRuleSwitch(name);
  return switchName === undefined || settings[switchName] === true ? "passed" : "off";
}

/** Finds when an email was rejected by a rule, bounced, or failed. */
async function findEndTime(
  { id, account_id, state }: Row<"mails">,
  { transaction }: HandlerContext,
): Promise<number | undefined> {
  if (state !== "not_sent" && state !== "bounced" && state !== "failed") return undefined;
  const last = await selectAccountRows("mail_events", account_id, transaction)
    .select("occurred_at")
    .where("mail_row", "=", id)
    .where("event", "=", state)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.occurred_at;
}

interface ExplanationContext {
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
  nothing_written: ({ address }) => `${address} has no confirmed review or question`,
  reviewed_lately: ({ address, facts }) => `${address} already reviewed this product${onDate(facts.reviewed?.atMs)}`,
  too_many_to_person: ({ address, settings }) =>
    settings
      ? `${address} will already have received the maximum of ${settings.most_mails_to_person} review requests in ${settings.most_mails_days} days`
      : `${address} had already received the maximum number of review requests`,
};

interface Explained {
  /** The reason of the rule that decides, after a colon; empty without such a rule. */
  readonly because: string;
  /** When a rule, a server, or the last failure ended it. */
  readonly endedMs: number | undefined;
  readonly nowMs: number;
}

/** Explains what happened, or will happen, to an email in one sentence that can be sent to a customer. */
function formatEmail(
  { reason, due_at: dueMs, sent_at: sentMs, attempts, ...email }: Row<"mails">,
  { because, endedMs, nowMs }: Explained,
  { subject, address }: ExplanationContext,
): string {
  const state = email.state as EmailState;
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
      if (because !== "") return `The email about ${subject} will not be sent${because}.`;
      if (attempts > 0) {
        return `The email about ${subject} could not be sent to ${address} yet and will be retried${onDate(dueMs)}${reasonSuffix}.`;
      }
      return dueMs > nowMs
        ? `An email about ${subject} will be sent to ${address}${onDate(dueMs)}.`
        : `The email about ${subject} to ${address} has been due since ${formatDate(dueMs)} and is waiting for a worker.`;
    default:
      return state satisfies never;
  }
}
