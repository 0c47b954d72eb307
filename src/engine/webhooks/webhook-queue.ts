import type { HandlerContext } from "../kernel/handler.ts";
import type { EngineWork } from "../kernel/handler.ts";
import { type AttemptOutcome, deleteWebhook, type DeliveryResult, recordOutcome } from "./outcomes.ts";
import { readPrivateWebhooks } from "./private-webhooks.ts";
import { findNextDueTime, selectDueDeliveries, selectExpiredDeliveries } from "./delivery-rows.ts";

export interface BegunDelivery {
  readonly id: number;
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
  /** Begins the next attempts, at most one per webhook. */
  readonly begin: (limit: number) => Promise<BegunDelivery[]>;
  readonly end: (begun: BegunDelivery, outcome: AttemptOutcome) => Promise<DeliveryResult>;
  /** Renews the leases of all deliveries in flight. */
  readonly renew: () => Promise<void>;
  /** Finds when the next delivery is due, in milliseconds. */
  readonly nextDueAt: () => Promise<number | undefined>;
}

export function createWebhookQueue(work: EngineWork, { worker, leaseMs }: LeaseHolder): WebhookQueue {
  /** Delivery IDs by attempt ID: a delivery may begin again while an expired attempt is still running. */
  const inFlight = new Map<number, number>();
  return {
    begin: async (limit) => {
      const begun = await work.write((context) => beginDue(limit, { worker, leaseMs }, context));
      for (const { id, attemptId } of begun) inFlight.set(attemptId, id);
      return begun;
    },
    end: async (begun, outcome) => {
      // Even if storing the outcome fails: then the lease must expire.
      inFlight.delete(begun.attemptId);
      return work.write((context) => recordOutcome(begun, { worker, outcome }, context));
    },
    renew: async () => {
      if (inFlight.size === 0) return;
      await work.write(async ({ transaction, nowMs }) => {
        await transaction
          .updateTable("webhook_deliveries")
          .set({ leased_until: nowMs + leaseMs })
          .where("id", "in", [...inFlight.values()])
          .where("state", "=", "leased")
          .where("worker", "=", worker)
          .execute();
      });
    },
    nextDueAt: () => work.read(findNextDueTime),
  };
}

interface LeaseHolder {
  readonly worker: string;
  /** Duration of a lease. If a lease expires, its worker is considered lost. */
  readonly leaseMs: number;
}

async function beginDue(limit: number, holder: LeaseHolder, context: HandlerContext): Promise<BegunDelivery[]> {
  await requeueExpiredLeases(context);
  const begun: BegunDelivery[] = [];
  for (const due of await selectDueDeliveries(limit, context)) {
    const next = await beginOne(due, holder, context);
    if (next) begun.push(next);
  }
  return begun;
}

/** Assumed: a delivery of a lost worker may have arrived; it is sent again with the same event ID. */
async function requeueExpiredLeases(context: HandlerContext): Promise<void> {
  const { transaction } = context;
  for (const id of await selectExpiredDeliveries(context)) {
    await transaction
      .updateTable("webhook_attempts")
      .set({ problem: "the worker was lost during the request; it may have been delivered" })
      .where("delivery_row", "=", id)
      .where("duration_ms", "is", null)
      .where("problem", "is", null)
      .execute();
    await transaction
      .updateTable("webhook_deliveries")
      .set({ state: "queued", worker: null, leased_until: null })
      .where("id", "=", id)
      .execute();
  }
}

async function beginOne(
  due: Awaited<ReturnType<typeof selectDueDeliveries>>[number],
  { worker, leaseMs }: LeaseHolder,
  context: HandlerContext,
): Promise<BegunDelivery | undefined> {
  const { transaction, nowMs } = context;
  const webhook = await transaction
    .selectFrom("webhooks")
    .select(["url", "secret_sealed"])
    .where("id", "=", due.webhook_row)
    .executeTakeFirst();
  if (!webhook) {
    await deleteWebhook(due.webhook_row, "the webhook was deleted", context);
    return undefined;
  }
  const attempt = due.attempts + 1;
  await transaction
    .updateTable("webhook_deliveries")
    .set({ state: "leased", worker, leased_until: nowMs + leaseMs, attempts: attempt })
    .where("id", "=", due.id)
    .execute();
  const { id: attemptId } = await transaction
    .insertInto("webhook_attempts")
    .values({
      account_id: due.account_id,
      delivery_row: due.id,
      worker,
      started_at: nowMs,
      duration_ms: null,
      status: null,
      problem: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const secret = openSecret(webhook.secret_sealed, context);
  const { id, webhook_row: webhookId, event_id: eventId, body } = due;
  const isPrivateAllowed = await readPrivateWebhooks(due.account_id, context);
  return { id, webhookId, attemptId, attempt, url: webhook.url, eventId, body, secret, isPrivateAllowed };
}

function openSecret(sealed: string, { sealer }: HandlerContext): string | undefined {
  try {
    return sealer.open(sealed);
  } catch {
    return undefined;
  }
}
