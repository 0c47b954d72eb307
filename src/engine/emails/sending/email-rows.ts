import { sql } from "kysely";
import { createStatement } from "../../../storage/statement.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

interface Due {
  readonly nowMs: number;
  readonly limit: number;
}

const selectQueued = createStatement<Due, Row<"mails">>(
  (slot, dialect) => sql`
    select * from mails where state = 'queued' and due_at <= ${slot("nowMs")}
    order by due_at, id limit ${slot("limit")} ${dialect.skipLocked}`,
);

/** Of workers that were lost. */
const selectExpired = createStatement<Due, Row<"mails">>(
  (slot, dialect) => sql`
    select * from mails where leased_until <= ${slot("nowMs")} and state in ('leased', 'sending')
    order by leased_until, id limit ${slot("limit")} ${dialect.skipLocked}`,
);

/** The mails that are to be sent now, those of lost workers first; nobody else takes them meanwhile. */
export async function selectDueEmails(
  limit: number,
  { transaction, dialect, nowMs }: Context,
): Promise<Row<"mails">[]> {
  const forsaken = await selectExpired(transaction, dialect, { nowMs, limit });
  const left = limit - forsaken.rows.length;
  if (left <= 0) return forsaken.rows;
  const queued = await selectQueued(transaction, dialect, { nowMs, limit: left });
  return [...forsaken.rows, ...queued.rows];
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

/** When the next mail is to be sent, or the next lease ends, milliseconds; nothing where no mail waits. */
export async function readNextDueAt({
  transaction,
  dialect,
}: Pick<Context, "transaction" | "dialect">): Promise<number | undefined> {
  const { rows } = await selectNextDue(transaction, dialect, {});
  return rows.length === 0 ? undefined : Math.min(...rows.map(({ at }) => at));
}
