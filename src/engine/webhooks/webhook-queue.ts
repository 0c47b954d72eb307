import { updateAccountRows } from "../kernel/account-rows.ts";
import { DueAccounts } from "../kernel/due-accounts.ts";
import { isBusy, renewDue } from "../kernel/due-times.ts";
import type { Row } from "../../storage/tables.ts";
import { accountIdOf, type EngineWork, type HandlerContext } from "../kernel/handler.ts";
import { type AttemptOutcome, type DeliveryResult, recordOutcome, requeue } from "./outcomes.ts";
import { readWebhookOwner } from "./private-webhooks.ts";
import { sql } from "kysely";
import { webhookSlots } from "../../contract/index.ts";
import { createStatement } from "../../storage/statement.ts";

export interface BegunDelivery {
  readonly id: number;
  readonly accountId: number;
  /** For the log. */
  readonly appKey: string;
  readonly webhookId: number;
  readonly attemptId: number;
  /** Number of the attempt since the delivery was queued or redelivered, starting at 1. */
  readonly attempt: number;
  readonly url: string;
  readonly eventId: string;
  readonly body: string;
  /** `whsec_…`; undefined if it cannot be decrypted with the key of this machine. */
  readonly secret: string | undefined;
  /** Whether the account's webhooks may call private addresses. */
  readonly isPrivateAllowed: boolean;
}

/** Access of a worker to the delivery queue. */
export interface WebhookQueue {
  /**
   * Begins the next attempts, at most one per webhook: an equal share for each account that has due deliveries. Accounts
   * with the fewest deliveries in flight come first.
   */
  readonly begin: (limit: number) => Promise<BegunDelivery[]>;
  readonly end: (begun: BegunDelivery, outcome: AttemptOutcome) => Promise<DeliveryResult>;
  /** Renews the leases of all deliveries in flight. */
  readonly renew: () => Promise<void>;
  /** Finds when the next delivery is due, in milliseconds. */
  readonly nextDueAt: () => Promise<number | undefined>;
}

export function createWebhookQueue(work: EngineWork, holder: LeaseHolder): WebhookQueue {
  /** Deliveries by attempt ID: a delivery may begin again while an expired attempt is still running. */
  const inFlight = new Map<number, BegunDelivery>();
  const listInFlight = (accountId: number) => [...inFlight.values()].filter((begun) => begun.accountId === accountId);
  const due = new DueAccounts("deliveries_due_at", (accountId) => listInFlight(accountId).length);
  return {
    begin: async (limit) => {
      const begun = await due.takeInTurn(limit, work, async (accountId, share) => {
        const added = await work.write(accountId, (context) => beginDue(share, holder, context));
        for (const delivery of added) inFlight.set(delivery.attemptId, delivery);
        due.noteServed(accountId);
        return { rows: added.length, result: added };
      });
      return begun.flat();
    },
    end: async (begun, outcome) => {
      // Even if storing the outcome fails: then the lease must expire.
      inFlight.delete(begun.attemptId);
      return work.write(begun.accountId, async (context) => {
        const result = await recordOutcome(begun, { worker: holder.worker, outcome }, context);
        await renewDue("deliveries_due_at", begun.accountId, context);
        return result;
      });
    },
    renew: async () => {
      const errors: unknown[] = [];
      for (const accountId of new Set(Array.from(inFlight.values(), (begun) => begun.accountId))) {
        const ids = listInFlight(accountId).map(({ id }) => id);
        const renewing = work.write(accountId, (context) => renewLeases(ids, holder, context));
        await renewing.catch((error: unknown) => errors.push(error));
      }
      if (errors.length > 0) throw errors[0];
    },
    nextDueAt: () => due.findNextDueTime(work),
  };
}

interface LeaseHolder {
  readonly worker: string;
  /** Duration of a lease. If a lease expires, its worker is considered lost. */
  readonly leaseMs: number;
}

async function renewLeases(
  ids: readonly number[],
  { worker, leaseMs }: LeaseHolder,
  context: HandlerContext,
): Promise<void> {
  await updateAccountRows("webhook_deliveries", accountIdOf(context), context.transaction)
    .set({ leased_until: context.nowMs + leaseMs })
    .where("id", "in", ids)
    .where("state", "=", "leased")
    .where("worker", "=", worker)
    .execute();
}

async function beginDue(limit: number, holder: LeaseHolder, context: HandlerContext): Promise<BegunDelivery[]> {
  await requeueExpiredLeases(context);
  const due = await selectDueDeliveries(limit, context);
  const begun: BegunDelivery[] = [];
  if (due.length > 0) {
    const owner = await readWebhookOwner(accountIdOf(context), context);
    for (const delivery of due) begun.push({ ...(await beginOne(delivery, holder, context)), ...owner });
  }
  await renewDue("deliveries_due_at", accountIdOf(context), context);
  return begun;
}

/** Assumed: a delivery of a lost worker may have arrived; it is sent again with the same event ID. */
async function requeueExpiredLeases(context: HandlerContext): Promise<void> {
  const { transaction } = context;
  const account_id = accountIdOf(context);
  for (const { id, webhook_row: webhookId } of await selectExpiredDeliveries(context)) {
    await updateAccountRows("webhook_attempts", account_id, transaction)
      .set({ problem: "the worker was lost during the request; it may have been delivered" })
      .where("delivery_row", "=", id)
      .where("duration_ms", "is", null)
      .where("problem", "is", null)
      .execute();
    await updateAccountRows("webhook_deliveries", account_id, transaction)
      .set({ ...(await requeue(webhookId, context)), worker: null, leased_until: null })
      .where("id", "=", id)
      .execute();
  }
}

async function beginOne(
  due: DueDelivery,
  { worker, leaseMs }: LeaseHolder,
  context: HandlerContext,
): Promise<Omit<BegunDelivery, "appKey" | "isPrivateAllowed">> {
  const { transaction, nowMs } = context;
  const accountId = accountIdOf(context);
  const attempt = due.attempts + 1;
  await updateAccountRows("webhook_deliveries", accountId, transaction)
    .set({ state: "leased", worker, leased_until: nowMs + leaseMs, attempts: attempt })
    .where("id", "=", due.id)
    .execute();
  const { id: attemptId } = await transaction
    .insertInto("webhook_attempts")
    .values({
      account_id: accountId,
      delivery_row: due.id,
      worker,
      started_at: nowMs,
      duration_ms: null,
      status: null,
      problem: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const secret = openSecret(due.secret_sealed, context);
  const { id, webhook_row: webhookId, event_id: eventId, url, body } = due;
  return { id, accountId, webhookId, attemptId, attempt, url, eventId, body, secret };
}

function openSecret(sealed: string, { sealer }: HandlerContext): string | undefined {
  try {
    return sealer.open(sealed);
  } catch {
    return undefined;
  }
}

type DueDelivery = Pick<Row<"webhook_deliveries">, "id" | "webhook_row" | "event_id" | "body" | "attempts"> &
  Pick<Row<"webhooks">, "url" | "secret_sealed">;

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
async function selectDueDeliveries(limit: number, context: HandlerContext): Promise<DueDelivery[]> {
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

/** The number of waiting deliveries that are counted at most. */
const maxCounted = 1_000;

const selectWaiting = createStatement<{ nowMs: number }, { readonly due_at: number }>(
  (slot) => sql`
    select due_at from webhook_deliveries as waiting
    where state = 'queued' and due_at <= ${slot("nowMs")} and not exists (
      select 1 from accounts where accounts.id = waiting.account_id and accounts.disabled_at is not null
    ) order by due_at limit ${sql.lit(maxCounted)}`,
);

/** Deliveries of all accounts that are due and were not begun. */
export interface WebhookBacklog {
  /** At most 1,000. */
  readonly deliveries: number;
  /** How long the oldest one has been due, in milliseconds; 0 without one. */
  readonly delayMs: number;
}

/** Measures the backlog of webhooks. Deliveries of disabled accounts, and those that wait for a retry, do not count. */
export async function measureWebhookBacklog({
  transaction,
  dialect,
  nowMs,
}: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">): Promise<WebhookBacklog> {
  const { rows } = await selectWaiting(transaction, dialect, { nowMs });
  return { deliveries: rows.length, delayMs: rows[0] ? nowMs - rows[0].due_at : 0 };
}

/** Selects deliveries of the account whose lease has expired. */
async function selectExpiredDeliveries(context: HandlerContext) {
  const { transaction, dialect, nowMs } = context;
  return (await selectExpired(transaction, dialect, { accountId: accountIdOf(context), nowMs })).rows;
}
