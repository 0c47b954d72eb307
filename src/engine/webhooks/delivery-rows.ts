import { type RawBuilder, sql } from "kysely";
import { webhookSlots } from "../../contract/index.ts";
import { createStatement } from "../../storage/statement.ts";
import { createSelection, findsAny, type Queue } from "../kernel/due-accounts.ts";
import { accountIdOf, type HandlerContext } from "../kernel/handler.ts";

export interface DueDelivery {
  readonly id: number;
  readonly webhook_row: number;
  readonly event_id: string;
  readonly body: string;
  readonly attempts: number;
  readonly url: string;
  readonly secret_sealed: string;
}

/** Whether a delivery to the webhook is in flight. Each webhook gets one delivery at a time. */
const isBusy = (accountId: RawBuilder<unknown>) =>
  findsAny(sql`
    select 1 from webhook_deliveries as busy
    where busy.account_id = ${accountId} and busy.state = 'leased' and busy.webhook_row = webhooks.id`);

const selectDue = createStatement<
  { readonly accountId: number; readonly nowMs: number; readonly limit: number },
  DueDelivery
>(
  (slot) => sql`
    select due.id, due.webhook_row, due.event_id, due.body, due.attempts, webhooks.url, webhooks.secret_sealed
    from webhooks cross join webhook_deliveries as due
    where webhooks.account_id = ${slot("accountId")} and due.account_id = ${slot("accountId")} and due.id = (
        select first.id from webhook_deliveries as first
        where first.account_id = ${slot("accountId")} and first.state = 'queued'
          and first.webhook_row = webhooks.id and first.due_at <= ${slot("nowMs")}
        order by first.due_at, first.id limit 1
      ) and not (${isBusy(slot("accountId"))})
      and exists (select 1 from accounts where accounts.id = ${slot("accountId")} and accounts.disabled_at is null)
    order by due.due_at, due.id limit ${slot("limit")}`,
);

const countInFlight = createStatement<{ readonly accountId: number }, { readonly deliveries: number }>(
  (slot) => sql`
    select count(*) as deliveries from webhook_deliveries
    where account_id = ${slot("accountId")} and state = 'leased'`,
);

/**
 * Selects the next delivery of each of the account's webhooks that has one due and none in flight. The account gets no
 * more than its slots, so that slow receivers delay only their own account. Deliveries of disabled accounts stay queued.
 */
export async function selectDueDeliveries(limit: number, context: HandlerContext): Promise<DueDelivery[]> {
  const { transaction, dialect, nowMs } = context;
  const accountId = accountIdOf(context);
  const { rows } = await countInFlight(transaction, dialect, { accountId });
  const free = Math.min(limit, webhookSlots.perAccount - (rows[0]?.deliveries ?? 0));
  return free <= 0 ? [] : (await selectDue(transaction, dialect, { accountId, nowMs, limit: free })).rows;
}

const selectExpired = createStatement<
  { readonly accountId: number; readonly nowMs: number },
  { readonly id: number; readonly webhook_row: number }
>(
  (slot) => sql`
    select id, webhook_row from webhook_deliveries
    where account_id = ${slot("accountId")} and state = 'leased' and leased_until <= ${slot("nowMs")}
    order by id`,
);

/** Selects deliveries of the account whose lease has expired. */
export async function selectExpiredDeliveries(context: HandlerContext) {
  const { transaction, dialect, nowMs } = context;
  return (await selectExpired(transaction, dialect, { accountId: accountIdOf(context), nowMs })).rows;
}

/** The due deliveries of an account, by webhook. */
const selectWaiting = (accountId: RawBuilder<unknown>, nowMs: RawBuilder<unknown>) => sql`
  select 1 from webhooks where webhooks.account_id = ${accountId} and ${findsAny(sql`
    select 1 from webhook_deliveries as due
    where due.account_id = webhooks.account_id and due.state = 'queued' and due.webhook_row = webhooks.id
      and due.due_at <= ${nowMs}`)}`;

/** Ready are accounts with an expired lease, and those with a free slot and a webhook with a due delivery and none in flight. */
export const deliveryQueue: Queue = {
  table: "webhook_deliveries",
  hasDue: selectWaiting,
  selectReady: createSelection(
    (accountId, nowMs) => sql`
      ${findsAny(sql`
        select 1 from webhook_deliveries as lost
        where lost.account_id = ${accountId} and lost.state = 'leased' and lost.leased_until <= ${nowMs}`)}
      or (${findsAny(sql`${selectWaiting(accountId, nowMs)} and not (${isBusy(accountId)})`)} and (
        select count(*) from webhook_deliveries as leased
        where leased.account_id = ${accountId} and leased.state = 'leased'
      ) < ${sql.lit(webhookSlots.perAccount)})`,
  ),
};
