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
  { email_key: string; mails: number }
>(
  (slot, dialect) => sql`
    select batch.email_key, count(*) as mails
    from ${batchOf<{ email_key: string }>({ email_key: "text" }, slot("rows"), dialect)} cross join mails
    where mails.account_id = ${slot("accountId")} and mails.email_key = batch.email_key
      and mails.sent_at >= ${slot("since")} and mails.order_row is not null
    group by batch.email_key`,
);

/** What other workers hold, which they may send at any moment. */
const selectHeld = createStatement<{ accountId: number }, { id: number; email_key: string }>(
  (slot) => sql`
    select id, email_key from mails
    where leased_until > 0 and state in ('leased', 'sending') and account_id = ${slot("accountId")}
      and order_row is not null`,
);

/** Review requests that the people of these mails had in the last days, today's counted as one, or are about to have. */
export async function countRecentEmails(
  mails: readonly Pick<Row<"mails">, "id" | "email_key">[],
  { accountId, days }: { readonly accountId: number; readonly days: number },
  { transaction, dialect, nowMs }: Context,
): Promise<Map<string, number>> {
  const keys = new Set(mails.map(({ email_key }) => email_key));
  const since = firstDayOf(dayOf(nowMs), days) * dayMs;
  const rows = JSON.stringify([...keys].map((key) => [key]));
  const sent = await countSent(transaction, dialect, { accountId, since, rows });
  const counts = new Map(sent.rows.map(({ email_key, mails: count }) => [email_key, count]));
  const judged = new Set(mails.map(({ id }) => id));
  for (const { id, email_key } of (await selectHeld(transaction, dialect, { accountId })).rows) {
    if (!judged.has(id) && keys.has(email_key)) counts.set(email_key, (counts.get(email_key) ?? 0) + 1);
  }
  return counts;
}

/** The first of so many days that end with `day`. */
function firstDayOf(day: number, days: number): number {
  return day - days + 1;
}
