import type * as z from "zod";
import {
  type contract,
  describeEmailRule,
  type EmailRuleName,
  emailRuleNames,
  type EmailSettings,
  type EmailState,
  emailTypeOf,
  type ExplainedDecision,
  findRuleSwitch,
  type RuleEvaluation,
  type RuleResult,
} from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { dayOf, iso } from "../../kernel/times.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";
import { readDroppedProducts } from "./dropped-products.ts";
import { findDecidingRule } from "./evaluation.ts";
import { formatExplanation } from "./explanation-format.ts";
import { exceedsLimitWhenDue } from "./limit-forecast.ts";
import { findLineFacts, type LineFacts } from "./line-facts.ts";
import { findBlockingRule, type LineRuleName, reviewedSinceMs } from "./line-rules.ts";
import { type EmailCase, findOrder, type OrderedProduct, readEmailCases } from "./order-lines.ts";

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
    emailTypeId: emailTypeOf.map,
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
  return formatExplanation(
    email && {
      ...email,
      state: email.state as EmailState,
      dueMs: email.due_at,
      sentMs: email.sent_at,
      endedMs,
    },
    decidedBy,
    {
      subject: isWholeOrder ? "this order" : (products[0]?.name ?? "this order"),
      address: email?.email ?? order.email,
      orderDateMs: order.order_date,
      receivedMs: decidingLine?.product.receivedMs ?? order.created_at,
      isPastOrder: order.sends_mail === 0,
      facts: decidingLine?.facts ?? {},
      settings: email?.state === "queued" ? settings : undefined,
    },
    nowMs,
  );
}

/** Finds the rule that prevented the email, or would prevent it now. */
async function decide(
  { email, products }: EmailCase,
  rules: readonly (LineRuleName | undefined)[],
  { settings }: ExplainedOrder,
  context: HandlerContext,
): Promise<EmailRuleName | undefined> {
  if (!email) return "past_order";
  if (email.state === "not_sent") return emailRuleNames.find((name) => name === email.reason);
  if (email.state !== "queued") return undefined;
  if (products.length > 0 && !rules.includes(undefined)) return findDecidingRule(rules);
  return (await exceedsLimitWhenDue(email, settings, context)) ? "too_many_to_person" : undefined;
}

function listRules(decidedBy: EmailRuleName | undefined, settings: EmailSettings): RuleEvaluation[] {
  const deciding = decidedBy === undefined ? emailRuleNames.length : emailRuleNames.indexOf(decidedBy);
  return emailRuleNames.map((name, index) => ({
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
