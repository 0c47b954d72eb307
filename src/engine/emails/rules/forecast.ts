import { sql } from "kysely";
import type * as z from "zod";
import {
  type contract,
  emailTypeOf,
  type ForecastRuleName,
  forecastRuleNames,
  type EmailSettings,
} from "../../../contract/index.ts";
import { createStatement } from "../../../storage/statement.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { SendCalendar } from "./calendar.ts";
import { findBlockingRule, type LineRuleName, reviewedSinceMs } from "./checks.ts";
import { findLineFacts, type OrderLine } from "./line-facts.ts";
import { dateOf, dayOf } from "../../kernel/times.ts";
import { dayMs } from "../../../contract/time.ts";

type Query = z.output<typeof contract.emails.forecast.input>;
type Forecast = z.output<typeof contract.emails.forecast.output>;

/** Purchases that are looked at together. */
const pageSize = 2_000;

interface Line extends OrderLine {
  readonly order_row: number;
}

interface Forecasting {
  readonly accountId: number;
  readonly settings: EmailSettings;
  readonly today: number;
  readonly since: number;
}

/**
 * Tells which mails-after-purchase would follow from purchases, if these were mailed.
 * Source: see `emailRuleTable`. Assumed: one mail for each product of an order, however many units, or one for each order
 * where the account has set so; those of an order that was there before bring one for the products that are new to it.
 * What is decided already, because its mail was sent or kept back, is not told again; what a person had lately, and what
 * waits for that person from other purchases, counts against the most that a person gets.
 */
export async function forecastEmails(
  { since_purchase_id = 0 }: Query,
  context: HandlerContext,
): Promise<Forecast> {
  const { id: accountId } = accountOf(context);
  const settings = await readEmailSettings(context, accountId);
  const forecasting = { accountId, settings, today: dayOf(context.nowMs), since: since_purchase_id };
  const calendar = new SendCalendar(forecasting.today, settings.most_mails_days);
  const notSent = Object.fromEntries(forecastRuleNames.map((name) => [name, 0])) as Record<
    ForecastRuleName,
    number
  >;
  const mailed = new Set<number>();
  for await (const { line, obstacle, day } of evaluateLines(forecasting, context)) {
    if (obstacle !== undefined) {
      notSent[obstacle] += 1;
      continue;
    }
    if (settings.one_mail_per === "order") {
      if (mailed.has(line.order_row)) continue;
      mailed.add(line.order_row);
    }
    calendar.add(line.email.toLowerCase(), day);
  }
  await reserveOtherEmails(calendar, forecasting, context);
  const most = settings.too_many_to_person ? settings.most_mails_to_person : Number.POSITIVE_INFINITY;
  const { mails, people, days, surplus } = calendar.close({ mails: most, days: settings.most_mails_days });
  notSent.too_many_to_person = surplus;
  const listed = [...days].toSorted(([a], [b]) => a - b);
  return {
    mails,
    people,
    days: listed.map(([day, count]) => ({ day: dateOf(day), mails: count })),
    not_sent: notSent,
  };
}

interface EvaluatedLine {
  readonly line: Line;
  readonly obstacle: LineRuleName | undefined;
  /** On which its mail would be sent. */
  readonly day: number;
}

/** Page by page; what follows from a line itself is not looked up. */
async function* evaluateLines(
  { accountId, settings, today, since }: Forecasting,
  context: HandlerContext,
): AsyncGenerator<EvaluatedLine> {
  const asking = {
    accountId,
    emailTypeId: emailTypeOf.map,
    reviewedSinceMs: reviewedSinceMs(settings, today),
  };
  for (let fromId = since; ;) {
    const values = { accountId, fromId };
    const { rows: lines } = await selectLines(context.transaction, context.dialect, values);
    const last = lines.at(-1);
    if (!last) return;
    const told = lines.map((line) => {
      const day = Math.max(dayOf(line.order_date) + settings.due_after_days, today);
      return { line, day, obstacle: findBlockingRule(line, { settings, onDay: day }) };
    });
    const open = told.filter(({ obstacle }) => obstacle === undefined).map(({ line }) => line);
    const known = await findLineFacts(open, asking, context);
    for (const { line, day, obstacle } of told) {
      const facts = known.get(line.id);
      const found = obstacle ?? (facts && findBlockingRule(line, { facts, settings, onDay: day }));
      yield { line, day, obstacle: found };
    }
    fromId = last.id + 1;
  }
}

const waiting = sql`('queued', 'leased', 'sending')`;

/** Not those whose mail was sent or kept back. */
const selectLines = createStatement<{ accountId: number; fromId: number }, Line>(
  (slot) => sql`
    select purchases.id, orders.order_id, orders.email, orders.order_date, purchases.order_row,
      purchases.product_row, products.product_id, products.blacklisted
    from purchases
      join orders on orders.id = purchases.order_row
      join products on products.id = purchases.product_row
    where purchases.account_id = ${slot("accountId")} and purchases.id >= ${slot("fromId")}
      and purchases.unit = 1
      and not exists (select 1 from mails where mails.order_row = purchases.order_row
        and mails.product_row in (0, purchases.product_row) and mails.category = 'map'
        and mails.state not in ${waiting})
    order by purchases.id limit ${sql.lit(pageSize)}`,
);

const selectSent = createStatement<{ accountId: number; since: number }, { email_key: string; at: number }>(
  (slot) => sql`
    select email_key, sent_at as at from mails
    where account_id = ${slot("accountId")} and sent_at >= ${slot("since")} and order_row is not null`,
);

const selectWaiting = createStatement<
  { accountId: number; fromId: number },
  { email_key: string; at: number }
>(
  (slot) => sql`
    select email_key, due_at as at from mails
    where account_id = ${slot("accountId")} and state in ${waiting} and order_row is not null
      and not exists (select 1 from purchases where purchases.order_row = mails.order_row
        and mails.product_row in (0, purchases.product_row) and purchases.unit = 1
        and purchases.id >= ${slot("fromId")})`,
);

/** What people had lately, and what waits for them beside what is told of. */
async function reserveOtherEmails(
  calendar: SendCalendar,
  { accountId, settings, today, since }: Forecasting,
  { transaction, dialect }: HandlerContext,
): Promise<void> {
  if (!settings.too_many_to_person) return;
  const sinceMs = (today - settings.most_mails_days) * dayMs;
  const sent = await selectSent(transaction, dialect, { accountId, since: sinceMs });
  for (const { email_key, at } of sent.rows) calendar.heed(email_key, dayOf(at));
  const queued = await selectWaiting(transaction, dialect, { accountId, fromId: since });
  for (const { email_key, at } of queued.rows) calendar.heed(email_key, Math.max(dayOf(at), today));
}
