import { sql } from "kysely";
import { createStatement } from "../../../storage/statement.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

interface DueQuery {
  readonly nowMs: number;
  readonly limit: number;
}

const selectQueued = createStatement<DueQuery, Row<"mails">>(
  (slot, dialect) => sql`
    select * from mails where state = 'queued' and due_at <= ${slot("nowMs")}
    order by due_at, id limit ${slot("limit")} ${dialect.skipLocked}`,
);

const selectExpired = createStatement<DueQuery, Row<"mails">>(
  (slot, dialect) => sql`
    select * from mails where leased_until <= ${slot("nowMs")} and state in ('leased', 'sending')
    order by leased_until, id limit ${slot("limit")} ${dialect.skipLocked}`,
);

/** Selects and locks emails that are due. Emails with expired leases come first. */
export async function selectDueEmails(
  limit: number,
  { transaction, dialect, nowMs }: Context,
): Promise<Row<"mails">[]> {
  const expired = await selectExpired(transaction, dialect, { nowMs, limit });
  const remaining = limit - expired.rows.length;
  if (remaining <= 0) return expired.rows;
  const queued = await selectQueued(transaction, dialect, { nowMs, limit: remaining });
  return [...expired.rows, ...queued.rows];
}

const selectNextDue = createStatement<object, { readonly at: number }>(
  () => sql`
    select * from (select due_at as at from mails where state = 'queued' order by due_at limit 1) as queued
    union all
    select * from (
      select leased_until as at from mails
      where leased_until is not null and state in ('leased', 'sending') order by leased_until limit 1
    ) as leased`,
);

/** Finds when the next email is due or the next lease expires, in milliseconds; undefined if no email is pending. */
export async function findNextDueTime({
  transaction,
  dialect,
}: Pick<Context, "transaction" | "dialect">): Promise<number | undefined> {
  const { rows } = await selectNextDue(transaction, dialect, {});
  return rows.length === 0 ? undefined : Math.min(...rows.map(({ at }) => at));
}
