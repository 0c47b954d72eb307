import { type RawBuilder, sql } from "kysely";
import { webhookSlots } from "../../contract/index.ts";
import { createDeferredStatement } from "../../storage/statement.ts";
import { findsAny } from "./account-walk.ts";
import type { HandlerContext } from "./handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

/** The queues, by the column of `account_versions` that contains when a worker must look at the account again. */
export type Queue = "emails_due_at" | "deliveries_due_at";

/** Whether a delivery to the webhook is in flight. Each webhook gets one delivery at a time. */
export const isBusy = (accountId: RawBuilder<unknown>) =>
  findsAny(sql`
    select 1 from webhook_deliveries as busy
    where busy.account_id = ${accountId} and busy.state = 'leased' and busy.webhook_row = webhooks.id`);

/**
 * Queries of the times at which a worker can take rows of an account: when they are due, a lease expires, or a campaign is to
 * queue some.
 */
const selectTimes: Readonly<Record<Queue, (accountId: RawBuilder<unknown>) => RawBuilder<unknown>>> = {
  emails_due_at: (accountId) => sql`
    select (
      select queued.due_at from mails as queued where queued.account_id = ${accountId} and queued.state = 'queued'
      order by queued.due_at limit 1
    ) as at
    union all
    select min(leased.leased_until) as at from mails as leased
    where leased.account_id = ${accountId} and leased.state in ('leased', 'sending')
    union all
    select min(campaigns.next_at) as at from campaigns
    where campaigns.account_id = ${accountId} and campaigns.next_at is not null`,
  deliveries_due_at: (accountId) => sql`
    select min(leased_until) as at from webhook_deliveries
    where webhook_deliveries.account_id = ${accountId} and webhook_deliveries.state = 'leased'
    union all
    select (
      select queued.due_at from webhook_deliveries as queued
      where queued.account_id = ${accountId} and queued.state = 'queued' and queued.webhook_row = webhooks.id
      order by queued.due_at limit 1
    ) as at from webhooks where webhooks.account_id = ${accountId} and not (${isBusy(accountId)}) and (
      select count(*) from webhook_deliveries as leased
      where leased.account_id = ${accountId} and leased.state = 'leased'
    ) < ${sql.lit(webhookSlots.perAccount)}`,
};

type Change = ReturnType<typeof createDeferredStatement<{ accountId: number; nowMs: number }>>;

/** Creates a statement that changes the due time of an account; its next time is `pending.at`. */
const createChange = (queue: Queue, set: string, condition = "true"): Change =>
  createDeferredStatement((slot) => {
    const accountId = slot("accountId");
    // Of a disabled account, nothing is taken until it is enabled.
    return sql`
      update account_versions set ${sql.ref(queue)} = ${sql.raw(set)}
      from (
        select min(times.at) as at, cast(${slot("nowMs")} as bigint) as now_ms
        from (${selectTimes[queue](accountId)}) as times
        where not exists (select 1 from accounts where accounts.id = ${accountId} and accounts.disabled_at is not null)
      ) as pending
      where account_versions.account_id = ${accountId} and ${sql.raw(condition)}`;
  });

const createChanges = (queue: Queue) => ({
  /** Never raises the time, so that an account that gets new rows keeps its place in the line. */
  lower: createChange(queue, "pending.at", `pending.at < coalesce(account_versions.${queue}, pending.at + 1)`),
  /** If more rows are due, the account moves to the end of the line. */
  renew: createChange(queue, "case when pending.at < now_ms then now_ms else pending.at end"),
});

const changes = {
  emails_due_at: createChanges("emails_due_at"),
  deliveries_due_at: createChanges("deliveries_due_at"),
};

/**
 * Must be called in each transaction that makes rows of a queue due, or due earlier. A time that is too early costs a
 * worker one look at the account, after which it is right again.
 */
export function noteDue(queue: Queue, accountId: number, { transaction, dialect, nowMs }: Context): Promise<void> {
  return changes[queue].lower(transaction, dialect, { accountId, nowMs });
}

/** Must be called in each transaction in which a worker takes or returns rows of a queue. */
export function renewDue(queue: Queue, accountId: number, { transaction, dialect, nowMs }: Context): Promise<void> {
  return changes[queue].renew(transaction, dialect, { accountId, nowMs });
}
