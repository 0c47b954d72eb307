import type * as z from "zod";
import {
  type RuleEvaluation,
  type contract,
  emailTypeOf,
  type EmailExplanation,
  type EmailRuleName,
  emailRuleNames,
  type EmailSettings,
  type EmailState,
  type RuleResult,
  findRuleSwitch,
  describeEmailRule,
} from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { findOrder, gatherCases, type EmailCase, type OrderedProduct } from "./order-lines.ts";
import { findBlockingRule, type LineRuleName, reviewedSinceMs } from "./checks.ts";
import { readDroppedProducts } from "./dropped-products.ts";
import { findLineFacts, type LineFacts } from "./line-facts.ts";
import { findDecidingRule } from "./evaluate.ts";
import { exceedsLimitWhenDue } from "./limit-forecast.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";
import { dayOf, iso } from "../../kernel/times.ts";
import { formatExplanation } from "./explanation-format.ts";

type Query = z.output<typeof contract.emails.explain.input>;
type Mail = Row<"mails">;

/**
 * Tells of an order what became of its mails, and why.
 * @throws ServiceError `recordNotFound` where the account has no such order, or the order no such product
 * Assumed: a mail that waits is judged as it would be on the day on which it is due, by what is known now; of one that is
 * decided the rules before the one that decided count as passed, whatever holds by now.
 */
export async function explainEmails(
  query: Query,
  context: HandlerContext,
): Promise<z.output<typeof contract.emails.explain.output>> {
  const order = await findOrder(query.order_id, context);
  const settings = await readEmailSettings(context, order.account_id);
  const cases = await gatherCases(order, query.product_id, context);
  const decisions: EmailExplanation[] = [];
  for (const one of cases) decisions.push(await explain(one, { order, settings }, context));
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

interface About {
  readonly order: Row<"orders">;
  readonly settings: EmailSettings;
}

async function explain(one: EmailCase, about: About, context: HandlerContext): Promise<EmailExplanation> {
  const { mail } = one;
  const endedMs = mail && (await readEnd(mail, context));
  const lines = await evaluateLines(one, endedMs, about, context);
  const decidedBy = await decide(
    one,
    lines.map(({ obstacle }) => obstacle),
    about,
    context,
  );
  const isWaiting = mail?.state === "queued" && decidedBy === undefined;
  const dropped = mail && mail.state !== "queued" ? readDroppedProducts(mail) : {};
  return {
    products: lines.map(({ product: { product_id, name, product_row }, obstacle = null }) => ({
      product_id,
      name,
      left_out_by: isWaiting ? obstacle : (dropped[product_row] ?? null),
    })),
    is_whole_order: mail?.product_row === wholeOrderRow,
    mail_id: mail?.id ?? null,
    state: (mail?.state as EmailState | undefined) ?? null,
    decided_by: decidedBy ?? null,
    at: mail ? iso(mail.sent_at ?? endedMs ?? mail.due_at) : null,
    sentence: word({ one, endedMs, lines, decidedBy }, about, context),
    rules: walkRules(decidedBy, about.settings),
  };
}

interface EvaluatedProduct {
  readonly product: OrderedProduct;
  readonly facts: LineFacts;
  readonly obstacle: LineRuleName | undefined;
}

/** What keeps each product back: now, or on the day on which the mail is due. */
async function evaluateLines(
  { mail, products }: EmailCase,
  endedMs: number | undefined,
  { order, settings }: About,
  context: HandlerContext,
): Promise<EvaluatedProduct[]> {
  const onDay = Math.max(dayOf(context.nowMs), dayOf(mail?.due_at ?? 0));
  // What was decided is told with what was known then.
  const knownOn = mail?.state === "queued" ? onDay : dayOf(endedMs ?? context.nowMs);
  const asking = {
    accountId: order.account_id,
    emailTypeId: emailTypeOf.map,
    reviewedSinceMs: reviewedSinceMs(settings, knownOn),
  };
  const known = await findLineFacts(products, asking, context);
  return products.map((product) => {
    const facts = known.get(product.id) ?? {};
    return { product, facts, obstacle: findBlockingRule(product, { facts, settings, onDay }) };
  });
}

interface Explained {
  readonly one: EmailCase;
  readonly endedMs: number | undefined;
  readonly lines: readonly EvaluatedProduct[];
  readonly decidedBy: EmailRuleName | undefined;
}

function word(
  { one: { mail, products }, endedMs, lines, decidedBy }: Explained,
  { order, settings }: About,
  { nowMs }: HandlerContext,
): string {
  const decider = lines.find(({ obstacle }) => obstacle === decidedBy) ?? lines[0];
  const isWholeOrder = mail?.product_row === wholeOrderRow;
  return formatExplanation(
    mail && { ...mail, state: mail.state as EmailState, dueMs: mail.due_at, sentMs: mail.sent_at, endedMs },
    decidedBy,
    {
      what: isWholeOrder ? "this order" : (products[0]?.name ?? "this order"),
      email: mail?.email ?? order.email,
      orderDateMs: order.order_date,
      arrivedMs: decider?.product.arrivedMs ?? order.created_at,
      isPastOrder: order.sends_mail === 0,
      facts: decider?.facts ?? {},
      settings: mail?.state === "queued" ? settings : undefined,
    },
    nowMs,
  );
}

/** The rule that keeps the mail back, as it was judged, or as it would be now. */
async function decide(
  { mail, products }: EmailCase,
  obstacles: readonly (LineRuleName | undefined)[],
  { settings }: About,
  context: HandlerContext,
): Promise<EmailRuleName | undefined> {
  if (!mail) return "past_order";
  if (mail.state === "not_sent") return emailRuleNames.find((name) => name === mail.reason);
  if (mail.state !== "queued") return undefined;
  if (products.length > 0 && !obstacles.includes(undefined)) return findDecidingRule(obstacles);
  return (await exceedsLimitWhenDue(mail, settings, context)) ? "too_many_to_person" : undefined;
}

function walkRules(decidedBy: EmailRuleName | undefined, settings: EmailSettings): RuleEvaluation[] {
  const at = decidedBy === undefined ? emailRuleNames.length : emailRuleNames.indexOf(decidedBy);
  return emailRuleNames.map((name, n) => ({
    name,
    says: describeEmailRule(name, settings),
    result: n === at ? "decides" : n > at ? "not_asked" : resultOf(name, settings),
  }));
}

function resultOf(name: EmailRuleName, settings: EmailSettings): RuleResult {
  const ownSwitch = findRuleSwitch(name);
  return ownSwitch === undefined || settings[ownSwitch] === true ? "passed" : "off";
}

/** When a mail was kept back, refused or given up. */
async function readEnd({ id, state }: Mail, { transaction }: HandlerContext): Promise<number | undefined> {
  if (state !== "not_sent" && state !== "bounced" && state !== "failed") return undefined;
  const last = await transaction
    .selectFrom("mail_events")
    .select("occurred_at")
    .where("mail_row", "=", id)
    .where("event", "=", state)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.occurred_at;
}
