import type { HandlerContext } from "../kernel/handler.ts";
import type { EngineWork } from "../kernel/handler.ts";
import { endSubscription } from "./delivery-end.ts";
import { recordOutcome, type AttemptOutcome, type DeliveryResult } from "./outcomes.ts";
import { readNextDeliveryAt, selectDueDeliveries, selectExpiredDeliveries } from "./delivery-rows.ts";

/** An attempt that has begun: what is to be sent, and where to. */
export interface BegunDelivery {
  readonly id: number;
  readonly webhookId: number;
  readonly attemptId: number;
  /** From 1, in the series since it was queued, or queued again. */
  readonly attempt: number;
  readonly url: string;
  readonly eventId: string;
  readonly body: string;
  /** `whsec_…`; nothing where it cannot be opened with this machine's key. */
  readonly secret: string | undefined;
}

/** What a worker does with deliveries. */
export interface WebhookQueue {
  /** Begins the next attempts, at most one of each subscription. */
  readonly begin: (most: number) => Promise<BegunDelivery[]>;
  /** Notes what came of an attempt, and what becomes of its delivery. */
  readonly end: (begun: BegunDelivery, outcome: AttemptOutcome) => Promise<DeliveryResult>;
  /** Makes the leases of all that is under way last from now on; of what is lost sight of, they end. */
  readonly renew: () => Promise<void>;
  /** When there is next something to begin, milliseconds. */
  readonly nextDueAt: () => Promise<number | undefined>;
}

/** @param leaseMs how long a worker holds what it has begun; where it is not renewed, the worker is lost */
export function createWebhookQueue(work: EngineWork, { worker, leaseMs }: Holder): WebhookQueue {
  /** Deliveries by their attempts: one may be begun again while an attempt that took too long still goes on. */
  const held = new Map<number, number>();
  return {
    begin: async (most) => {
      const begun = await work.write((context) => beginDue(most, { worker, leaseMs }, context));
      for (const { id, attemptId } of begun) held.set(attemptId, id);
      return begun;
    },
    end: async (begun, outcome) => {
      // Whatever becomes of it: where nothing can be noted, its lease is to end.
      held.delete(begun.attemptId);
      return work.write((context) => recordOutcome(begun, { worker, outcome }, context));
    },
    renew: async () => {
      if (held.size === 0) return;
      await work.write(async ({ transaction, nowMs }) => {
        await transaction
          .updateTable("webhook_deliveries")
          .set({ leased_until: nowMs + leaseMs })
          .where("id", "in", [...held.values()])
          .where("state", "=", "leased")
          .where("worker", "=", worker)
          .execute();
      });
    },
    nextDueAt: () => work.read(readNextDeliveryAt),
  };
}

interface Holder {
  readonly worker: string;
  readonly leaseMs: number;
}

async function beginDue(most: number, holder: Holder, context: HandlerContext): Promise<BegunDelivery[]> {
  await requeueExpiredLeases(context);
  const begun: BegunDelivery[] = [];
  for (const due of await selectDueDeliveries(most, context)) {
    const next = await beginOne(due, holder, context);
    if (next) begun.push(next);
  }
  return begun;
}

/**
 * Assumed: what a lost worker was sending may have arrived, or not; it is sent again under the same id.
 */
async function requeueExpiredLeases(context: HandlerContext): Promise<void> {
  const { transaction } = context;
  for (const id of await selectExpiredDeliveries(context)) {
    await transaction
      .updateTable("webhook_attempts")
      .set({ problem: "its worker was lost before an answer was noted; it may have arrived" })
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
  { worker, leaseMs }: Holder,
  context: HandlerContext,
): Promise<BegunDelivery | undefined> {
  const { transaction, nowMs } = context;
  const webhook = await transaction
    .selectFrom("webhooks")
    .select(["url", "secret_sealed"])
    .where("id", "=", due.webhook_row)
    .executeTakeFirst();
  if (!webhook) {
    await endSubscription(due.webhook_row, "its subscription has ended", context);
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
  return { id, webhookId, attemptId, attempt, url: webhook.url, eventId, body, secret };
}

function openSecret(sealed: string, { sealer }: HandlerContext): string | undefined {
  try {
    return sealer.open(sealed);
  } catch {
    return undefined;
  }
}
