import type * as z from "zod";
import { type contract, type ForecastRuleName, forecastRuleNames } from "../../../contract/index.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { dayOf } from "../../kernel/times.ts";
import { reserveOtherEmails } from "../rules/forecast.ts";
import { SendCalendar } from "../rules/send-calendar.ts";
import { findNextOrders } from "./campaign-queue.ts";
import { dayAtRate, type Plan, planEmails, type Selection } from "./planned-emails.ts";

type Forecast = Omit<z.output<typeof contract.campaigns.forecast.output>, "not_found">;

interface Forecasted extends Pick<z.output<typeof contract.campaigns.forecast.input>, "category" | "emails_per_hour"> {
  readonly selection: Selection;
  /** The orders that are chosen one by one. */
  readonly orderRows: readonly number[] | undefined;
}

/** Forecasts the emails of a campaign that would start now, with current data. */
export async function forecastCampaign(
  { category, emails_per_hour, selection, orderRows }: Forecasted,
  context: HandlerContext,
): Promise<Forecast> {
  const { id: accountId } = accountOf(context);
  const settings = await readEmailSettings(context, accountId);
  const today = dayOf(context.nowMs);
  const calendar = new SendCalendar(today, settings.most_mails_days);
  const notSent = Object.fromEntries(forecastRuleNames.map((name) => [name, 0])) as Record<ForecastRuleName, number>;
  const plan: Plan = { category, selection, settings, asked: new Set() };
  let [queued, orders, past_orders, asked_before] = [0, 0, 0, 0];
  for await (const rows of listOrders(selection, orderRows, context)) {
    const planned = await planEmails(rows, plan, context);
    orders += planned.orders;
    past_orders += planned.pastOrders;
    asked_before += planned.askedBefore;
    for (const { email_key, rule } of planned.emails) {
      if (rule === undefined) calendar.add(email_key, dayAtRate(queued++, emails_per_hour, context));
      else notSent[rule as ForecastRuleName] += 1;
    }
  }
  const since = Number.MAX_SAFE_INTEGER;
  await reserveOtherEmails(calendar, { accountId, settings, today, since }, context);
  const max = settings.too_many_to_person ? settings.most_mails_to_person : Number.POSITIVE_INFINITY;
  const { emails, recipients, overLimit } = calendar.summarize({ emails: max, days: settings.most_mails_days });
  return {
    orders,
    past_orders,
    mails: emails,
    people: recipients,
    not_sent: { ...notSent, too_many_to_person: overLimit },
    asked_before,
    hours: queued / emails_per_hour,
  };
}

const pageSize = 1_000;

/** Lists the orders that a campaign may choose, page by page. */
async function* listOrders(
  selection: Selection,
  listed: readonly number[] | undefined,
  context: HandlerContext,
): AsyncGenerator<readonly number[]> {
  if (listed) {
    for (let at = 0; at < listed.length; at += pageSize) yield listed.slice(at, at + pageSize);
    return;
  }
  for (let walked_to = 0; ;) {
    const from = { id: 0, walked_to, last_order: Number.MAX_SAFE_INTEGER };
    const rows = await findNextOrders(from, selection, pageSize, context);
    yield rows;
    if (rows.length < pageSize) return;
    walked_to = rows.at(-1) ?? 0;
  }
}
