import { sql } from "kysely";
import type { EmailSettings } from "../../../contract/index.ts";
import { dayMs } from "../../../contract/time.ts";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { dateOf, dayOf } from "../../kernel/times.ts";
import type { ScheduledEmails } from "../../orders/order-emails.ts";
import type { DueEmail } from "./evaluation.ts";
import { isRequest, readEmailLines } from "./email-lines.ts";
import { findLineFacts } from "./line-facts.ts";
import { findBlockingRule, reviewedSinceMs } from "./line-rules.ts";
import { SendCalendar } from "./send-calendar.ts";

const selectQueued = createStatement<{ accountId: number; rows: string }, DueEmail>(
  (slot, dialect) => sql`
    select mails.* from ${batchOf({ order_id: "text" }, slot("rows"), dialect)}
      cross join orders cross join mails
    where orders.account_id = ${slot("accountId")} and orders.order_id = batch.order_id
      and mails.account_id = ${slot("accountId")} and mails.order_row = orders.id and mails.category = 'map'
      and ${dialect.withoutIndex(sql.ref("mails.state"))} = 'queued'`,
);

/**
 * Counts the queued review requests of orders that will be sent if nothing changes until they are due. Overdue emails
 * count as due today.
 * Assumed: the other emails that their recipients received recently or are to receive count toward the limit per customer.
 */
export async function countScheduledEmails(
  orderIds: readonly string[],
  context: HandlerContext,
): Promise<ScheduledEmails> {
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  const rows = JSON.stringify(orderIds.map((id) => [id]));
  const { rows: queued } = await selectQueued(transaction, dialect, { accountId, rows });
  if (queued.length === 0) return { queued: 0, first_due: null };
  const settings = await readEmailSettings(context, accountId);
  const today = dayOf(nowMs);
  const calendar = new SendCalendar(today, settings.most_mails_days);
  const sendable = await selectSendable(queued, settings, context);
  for (const { email_key, due_at } of sendable) calendar.add(email_key, dayOf(due_at));
  if (settings.too_many_to_person) await reserveOtherEmails(calendar, queued, settings, context);
  const max = settings.too_many_to_person ? settings.most_mails_to_person : Number.POSITIVE_INFINITY;
  const { emails, days } = calendar.summarize({ emails: max, days: settings.most_mails_days });
  return { queued: emails, first_due: emails === 0 ? null : dateOf(Math.min(...days.keys())) };
}

/** Selects the emails about at least one product that no rule rejects on the day when they are due. */
async function selectSendable(
  queued: readonly DueEmail[],
  settings: EmailSettings,
  context: HandlerContext,
): Promise<readonly DueEmail[]> {
  const today = dayOf(context.nowMs);
  const byId = new Map(queued.map((email) => [email.id, email]));
  const { id: accountId } = accountOf(context);
  const lines = await readEmailLines(queued, accountId, context);
  const query = {
    accountId,
    category: "map",
    reviewedSinceMs: reviewedSinceMs(settings, today),
  };
  const factsById = await findLineFacts(lines, query, context);
  const sendable = lines.filter((line) => {
    const onDay = Math.max(dayOf(byId.get(line.mailId)?.due_at ?? 0), today);
    return findBlockingRule(line, { facts: factsById.get(line.id), settings, onDay }) === undefined;
  });
  const ids = new Set(sendable.map(({ mailId }) => mailId));
  return queued.filter(({ id }) => ids.has(id));
}

const selectOthers = createStatement<
  { accountId: number; since: number; rows: string },
  { id: number; email_key: string; at: number }
>(
  (slot, dialect) => sql`
    select mails.id, mails.email_key, coalesce(mails.sent_at, mails.due_at) as at
    from ${batchOf({ email_key: "text" }, slot("rows"), dialect)} cross join mails
    where mails.account_id = ${slot("accountId")} and mails.email_key = batch.email_key and ${isRequest}
      and (mails.sent_at >= ${slot("since")} or (mails.sent_at is null and mails.state in ('queued', 'leased', 'sending')))`,
);

async function reserveOtherEmails(
  calendar: SendCalendar,
  queued: readonly DueEmail[],
  { most_mails_days }: EmailSettings,
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const today = dayOf(nowMs);
  const keys = [...new Set(queued.map(({ email_key }) => email_key))];
  const { rows } = await selectOthers(transaction, dialect, {
    accountId: accountOf(context).id,
    since: (today - most_mails_days) * dayMs,
    rows: JSON.stringify(keys.map((key) => [key])),
  });
  const ids = new Set(queued.map(({ id }) => id));
  for (const { id, email_key, at } of rows) {
    if (!ids.has(id)) calendar.reserve(email_key, dayOf(at));
  }
}
