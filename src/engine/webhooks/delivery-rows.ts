import { type RawBuilder, sql } from "kysely";
import { webhookSlots } from "../../contract/index.ts";
import { createStatement } from "../../storage/statement.ts";
import type { HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

export interface DueDelivery {
  readonly id: number;
  readonly account_id: number;
  readonly webhook_row: number;
  readonly event_id: string;
  readonly body: string;
  readonly attempts: number;
}

/** Webhooks with queued deliveries. The recursion skips through the index, regardless of the number of deliveries. */
const waitingWebhooks = sql`
  waiting(webhook_row) as (
    select min(webhook_row) from webhook_deliveries where state = 'queued'
    union all
    select (
      select min(later.webhook_row) from webhook_deliveries as later
      where later.state = 'queued' and later.webhook_row > waiting.webhook_row
    ) from waiting where waiting.webhook_row is not null
  )`;

/** Whether a delivery to the webhook is in flight. Each webhook gets one delivery at a time. */
const isBusy = sql`exists (
  select 1 from webhook_deliveries as busy
  where busy.state = 'leased' and busy.webhook_row = waiting.webhook_row
)`;

/** Deliveries of disabled accounts stay in the queue. */
const isActive = sql`not exists (
  select 1 from webhooks join accounts on accounts.id = webhooks.account_id
  where webhooks.id = waiting.webhook_row and accounts.disabled_at is not null
)`;

/** The number of an account's deliveries in flight, of all workers. */
const countInFlight = (accountId: RawBuilder<unknown>) => sql`(
  select count(*) from webhook_deliveries as busy where busy.state = 'leased' and busy.account_id = ${accountId}
)`;

const selectDue = createStatement<{ readonly nowMs: number; readonly limit: number }, DueDelivery>(
  (slot, dialect) => sql`
    with recursive ${waitingWebhooks},
    candidates(id, place) as (
      select due.id, ${countInFlight(sql`due.account_id`)} +
        row_number() over (partition by due.account_id order by due.due_at, due.id)
      from waiting cross join webhook_deliveries as due
      where due.id = (
        select first.id from webhook_deliveries as first
        where first.state = 'queued' and first.webhook_row = waiting.webhook_row and first.due_at <= ${slot("nowMs")}
        order by first.due_at, first.id limit 1
      ) and not ${isBusy} and ${isActive}
    )
    select due.id, due.account_id, due.webhook_row, due.event_id, due.body, due.attempts
    from candidates cross join webhook_deliveries as due
    where due.id = candidates.id and candidates.place <= ${sql.lit(webhookSlots.perAccount)}
    order by candidates.place, due.due_at, due.id limit ${slot("limit")} ${dialect.skipLocked}`,
);

/**
 * Selects the next delivery of each webhook that has one due and none in flight. Accounts with the fewest deliveries in
 * flight come first, and no account gets more than its slots, so that slow receivers delay only their own account.
 */
export async function selectDueDeliveries(
  limit: number,
  { transaction, dialect, nowMs }: Context,
): Promise<DueDelivery[]> {
  return (await selectDue(transaction, dialect, { nowMs, limit })).rows;
}

const selectExpired = createStatement<{ readonly nowMs: number }, { readonly id: number }>(
  (slot, dialect) => sql`
    select id from webhook_deliveries where leased_until <= ${slot("nowMs")}
    order by leased_until, id limit 1000 ${dialect.skipLocked}`,
);

/** Selects deliveries whose lease has expired. Only deliveries in flight have a lease. */
export async function selectExpiredDeliveries({ transaction, dialect, nowMs }: Context): Promise<number[]> {
  return (await selectExpired(transaction, dialect, { nowMs })).rows.map(({ id }) => id);
}

const selectNextDue = createStatement<object, { readonly at: number | null }>(
  () => sql`
    with recursive ${waitingWebhooks}
    select min((
      select min(first.due_at) from webhook_deliveries as first
      where first.state = 'queued' and first.webhook_row = waiting.webhook_row
    )) as at from waiting where not ${isBusy} and ${isActive} and ${countInFlight(sql`(
      select webhooks.account_id from webhooks where webhooks.id = waiting.webhook_row
    )`)} < ${sql.lit(webhookSlots.perAccount)}
    union all
    select min(leased_until) from webhook_deliveries where leased_until is not null`,
);

/** Finds when the next delivery is due or the next lease expires, in milliseconds; undefined if nothing is pending. */
export async function findNextDueTime({
  transaction,
  dialect,
}: Pick<Context, "transaction" | "dialect">): Promise<number | undefined> {
  const { rows } = await selectNextDue(transaction, dialect, {});
  const times = rows.flatMap(({ at }) => (at === null ? [] : [at]));
  return times.length === 0 ? undefined : Math.min(...times);
}
