import { sql } from "kysely";
import type * as z from "zod";
import {
  type contract,
  emailKeyOf,
  type EmailSettings,
  type ForecastRuleName,
  forecastRuleNames,
} from "../../../contract/index.ts";
import { createStatement } from "../../../storage/statement.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { dayMs } from "../../../contract/time.ts";
import { dateOf, dayOf } from "../../kernel/times.ts";
import { isRequest } from "./email-lines.ts";
import { findLineFacts, type OrderLine } from "./line-facts.ts";
import { findBlockingRule, type LineRuleName, reviewedSinceMs } from "./line-rules.ts";
import { SendCalendar } from "./send-calendar.ts";

type Query = z.output<typeof contract.emails.forecast.input>;
type Forecast = z.output<typeof contract.emails.forecast.output>;

const pageSize = 2_000;

interface PurchasedLine extends OrderLine {
  readonly order_row: number;
}

interface Forecasting {
  readonly accountId: number;
  readonly settings: EmailSettings;
  readonly today: number;
  readonly since: number;
  /** The lowest value of `sends_mail` of the orders to include. */
  readonly sendsMail: 0 | 1;
}

/**
 * Forecasts the review requests that purchases would trigger.
 * Source: see `emailRuleTable`. Assumed: one email per product of an order, regardless of quantity, or one per order if
 * the account is set so; an existing order triggers emails only for products that are new to it. Emails that were
 * already sent or rejected are not included. Emails that a customer received recently, or that are queued for other
 * purchases, count toward the limit per customer.
 */
export async function forecastEmails(
  { since_purchase_id: since = 0, send_mail }: Query,
  context: HandlerContext,
): Promise<Forecast> {
  const { id: accountId } = accountOf(context);
  const settings = await readEmailSettings(context, accountId);
  const sendsMail = send_mail === true ? 1 : 0;
  const forecasting: Forecasting = { accountId, settings, today: dayOf(context.nowMs), since, sendsMail };
  const calendar = new SendCalendar(forecasting.today, settings.most_mails_days);
  const notSent = Object.fromEntries(forecastRuleNames.map((name) => [name, 0])) as Record<ForecastRuleName, number>;
  const addedOrders = new Set<number>();
  for await (const { line, rule, day } of evaluateLines(forecasting, context)) {
    if (rule !== undefined) {
      notSent[rule] += 1;
      continue;
    }
    if (settings.one_mail_per === "order") {
      if (addedOrders.has(line.order_row)) continue;
      addedOrders.add(line.order_row);
    }
    calendar.add(emailKeyOf(line.email), day);
  }
  await reserveOtherEmails(calendar, forecasting, context);
  const max = settings.too_many_to_person ? settings.most_mails_to_person : Number.POSITIVE_INFINITY;
  const summary = calendar.summarize({ emails: max, days: settings.most_mails_days });
  const days = [...summary.days].toSorted(([a], [b]) => a - b);
  return {
    mails: summary.emails,
    people: summary.recipients,
    days: days.map(([day, count]) => ({ day: dateOf(day), mails: count })),
    not_sent: { ...notSent, too_many_to_person: summary.overLimit },
  };
}

interface EvaluatedLine {
  readonly line: PurchasedLine;
  readonly rule: LineRuleName | undefined;
  /** The day on which the email would be sent. */
  readonly day: number;
}

/** Evaluates lines page by page. Reads facts only for lines that pass the rules that need none. */
async function* evaluateLines(
  { accountId, settings, today, since, sendsMail }: Forecasting,
  context: HandlerContext,
): AsyncGenerator<EvaluatedLine> {
  const query = {
    accountId,
    category: "map",
    reviewedSinceMs: reviewedSinceMs(settings, today),
  };
  for (let fromId = since; ;) {
    const { rows: lines } = await selectLines(context.transaction, context.dialect, { accountId, fromId, sendsMail });
    const last = lines.at(-1);
    if (!last) return;
    const evaluated = lines.map((line) => {
      const day = Math.max(dayOf(line.order_date) + settings.due_after_days, today);
      return { line, day, rule: findBlockingRule(line, { settings, onDay: day }) };
    });
    const passed = evaluated.filter(({ rule }) => rule === undefined).map(({ line }) => line);
    const factsById = await findLineFacts(passed, query, context);
    for (const { line, day, rule } of evaluated) {
      const facts = factsById.get(line.id);
      yield { line, day, rule: rule ?? (facts && findBlockingRule(line, { facts, settings, onDay: day })) };
    }
    fromId = last.id + 1;
  }
}

const pendingStates = sql`('queued', 'leased', 'sending')`;

/**
 * Excludes lines whose email was already sent or rejected. An order without emails may have got a product later whose
 * email is queued.
 */
const selectLines = createStatement<{ accountId: number; fromId: number; sendsMail: number }, PurchasedLine>(
  (slot) => sql`
    select purchases.id, orders.order_id, orders.email, orders.order_date, purchases.order_row,
      purchases.product_row, products.product_id, products.blacklisted
    from purchases
      join orders on orders.account_id = purchases.account_id and orders.id = purchases.order_row
      join products on products.account_id = purchases.account_id and products.id = purchases.product_row
    where purchases.account_id = ${slot("accountId")} and purchases.id >= ${slot("fromId")}
      and purchases.unit = 1 and (orders.sends_mail >= ${slot("sendsMail")} or exists (select 1 from mails
        where mails.account_id = ${slot("accountId")} and mails.order_row = purchases.order_row
          and mails.product_row in (0, purchases.product_row) and mails.state in ${pendingStates}))
      and not exists (select 1 from mails where mails.account_id = ${slot("accountId")}
        and mails.order_row = purchases.order_row
        and mails.product_row in (0, purchases.product_row) and mails.category = 'map'
        and mails.state not in ${pendingStates})
    order by purchases.id limit ${sql.lit(pageSize)}`,
);

const selectSent = createStatement<{ accountId: number; since: number }, { email_key: string; at: number }>(
  (slot) => sql`
    select email_key, sent_at as at from mails
    where account_id = ${slot("accountId")} and sent_at >= ${slot("since")} and ${isRequest}`,
);

const selectPending = createStatement<{ accountId: number; fromId: number }, { email_key: string; at: number }>(
  (slot) => sql`
    select email_key, due_at as at from mails
    where account_id = ${slot("accountId")} and state in ${pendingStates} and ${isRequest}
      and not exists (select 1 from purchases where purchases.account_id = ${slot("accountId")}
        and purchases.order_row = mails.order_row
        and mails.product_row in (0, purchases.product_row) and purchases.unit = 1
        and purchases.id + 0 >= ${slot("fromId")})`,
);

/** Reserves the emails that were sent recently, and pending emails that are not part of the forecast. */
export async function reserveOtherEmails(
  calendar: SendCalendar,
  { accountId, settings, today, since }: Omit<Forecasting, "sendsMail">,
  { transaction, dialect }: HandlerContext,
): Promise<void> {
  if (!settings.too_many_to_person) return;
  const sinceMs = (today - settings.most_mails_days) * dayMs;
  const sent = await selectSent(transaction, dialect, { accountId, since: sinceMs });
  for (const { email_key, at } of sent.rows) calendar.reserve(email_key, dayOf(at));
  const pending = await selectPending(transaction, dialect, { accountId, fromId: since });
  for (const { email_key, at } of pending.rows) calendar.reserve(email_key, Math.max(dayOf(at), today));
}
