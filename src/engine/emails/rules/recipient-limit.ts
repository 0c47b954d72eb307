import { sql } from "kysely";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { dayOf } from "../../kernel/times.ts";
import { dayMs } from "../../../contract/time.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

const countSent = createStatement<
  { accountId: number; since: number; rows: string },
  { email_key: string; emails: number }
>(
  (slot, dialect) => sql`
    select batch.email_key, count(*) as emails
    from ${batchOf<{ email_key: string }>({ email_key: "text" }, slot("rows"), dialect)} cross join mails
    where mails.account_id = ${slot("accountId")} and mails.email_key = batch.email_key
      and mails.sent_at >= ${slot("since")} and mails.order_row is not null
    group by batch.email_key`,
);

/** Emails claimed by other workers, which may be sent at any time. */
const selectLeased = createStatement<{ accountId: number }, { id: number; email_key: string }>(
  (slot) => sql`
    select id, email_key from mails
    where leased_until > 0 and state in ('leased', 'sending') and account_id = ${slot("accountId")}
      and order_row is not null`,
);

/**
 * Counts the review requests that the recipients of these emails received in the last `days` days, including today, or
 * are about to receive.
 * @returns counts by address key
 */
export async function countRecentEmails(
  emails: readonly Pick<Row<"mails">, "id" | "email_key">[],
  { accountId, days }: { readonly accountId: number; readonly days: number },
  { transaction, dialect, nowMs }: Context,
): Promise<Map<string, number>> {
  const keys = new Set(emails.map(({ email_key }) => email_key));
  const since = (dayOf(nowMs) - days + 1) * dayMs;
  const rows = JSON.stringify([...keys].map((key) => [key]));
  const sent = await countSent(transaction, dialect, { accountId, since, rows });
  const counts = new Map(sent.rows.map(({ email_key, emails: count }) => [email_key, count]));
  const ids = new Set(emails.map(({ id }) => id));
  for (const { id, email_key } of (await selectLeased(transaction, dialect, { accountId })).rows) {
    if (!ids.has(id) && keys.has(email_key)) counts.set(email_key, (counts.get(email_key) ?? 0) + 1);
  }
  return counts;
}
