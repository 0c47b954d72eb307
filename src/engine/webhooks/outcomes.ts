import type { HandlerContext } from "../kernel/handler.ts";
import { endSubscription } from "./delivery-end.ts";
import { limitRetryAfterMs, planRetryMs } from "./retry-schedule.ts";

/**
 * What came of an attempt.
 * - `delivered`: a status from 200 to 299
 * - `failed`: anything else, and no answer at all
 * - `gone`: 410, by which a receiver says that nothing is to be sent there any more
 * - `cut_off`: the worker stopped; it is no fault of the receiver
 */
export type AttemptOutcome = { readonly durationMs: number } & (
  | { readonly state: "delivered"; readonly status: number }
  | {
      readonly state: "failed";
      readonly status?: number | undefined;
      readonly problem: string;
      /** How long the receiver asks to be left alone. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly state: "gone"; readonly status: number }
  | { readonly state: "cut_off"; readonly problem: string }
);

/** What became of a delivery: `deferred` is tried again. */
export const deliveryResults = ["delivered", "deferred", "failed"] as const;
export type DeliveryResult = (typeof deliveryResults)[number];

interface Attempted {
  readonly id: number;
  readonly webhookId: number;
  readonly attemptId: number;
  readonly attempt: number;
}

const goneReason = "the receiver answered 410, which ended the subscription";

/**
 * Notes what came of an attempt, and what becomes of its delivery. One whose lease has ended meanwhile is another
 * worker's: only that it was delivered is noted of it then.
 * Assumed: deliveries of a subscription go one at a time, in the order in which they are due; one that failed waits for
 * its next attempt, and those after it do not wait for that. A receiver that asks for a pause with `Retry-After` gets
 * it for all that is its.
 */
export async function recordOutcome(
  attempted: Attempted,
  { worker, outcome }: { readonly worker: string; readonly outcome: AttemptOutcome },
  context: HandlerContext,
): Promise<DeliveryResult> {
  await recordAttempt(attempted, outcome, context);
  if (outcome.state === "delivered") return recordDelivered(attempted, context);
  if (outcome.state === "cut_off") {
    const change = { state: "queued", attempts: attempted.attempt - 1 };
    await changeHeld(attempted, { worker, change }, context);
    return "deferred";
  }
  if (outcome.state === "gone") {
    await endSubscription(attempted.webhookId, goneReason, context);
    await changeHeld(attempted, { worker, change: { state: "failed", reason: goneReason } }, context);
    return "failed";
  }
  const { problem, retryAfterMs = 0 } = outcome;
  if (retryAfterMs > 0) await hold(attempted, retryAfterMs, context);
  const waitMs = (await isSubscribed(attempted, context))
    ? planRetryMs(attempted.attempt, retryAfterMs, toFraction(context.random(4)))
    : undefined;
  const change =
    waitMs === undefined
      ? { state: "failed", reason: problem }
      : { state: "queued", reason: problem, due_at: context.nowMs + waitMs };
  await changeHeld(attempted, { worker, change }, context);
  return waitMs === undefined ? "failed" : "deferred";
}

async function recordAttempt(
  { attemptId }: Attempted,
  outcome: AttemptOutcome,
  { transaction }: HandlerContext,
): Promise<void> {
  const status = "status" in outcome ? (outcome.status ?? null) : null;
  const problem = outcome.state === "gone" ? goneReason : "problem" in outcome ? outcome.problem : null;
  await transaction
    .updateTable("webhook_attempts")
    .set({ duration_ms: Math.round(outcome.durationMs), status, problem })
    .where("id", "=", attemptId)
    .execute();
}

async function recordDelivered(
  { id }: Attempted,
  { transaction, nowMs }: HandlerContext,
): Promise<"delivered"> {
  await transaction
    .updateTable("webhook_deliveries")
    .set({ state: "delivered", delivered_at: nowMs, reason: null, worker: null, leased_until: null })
    .where("id", "=", id)
    .where("state", "!=", "delivered")
    .execute();
  return "delivered";
}

/** Gives back a delivery that is still the worker's, by the very attempt that it is of. */
async function changeHeld(
  { id, attempt }: Attempted,
  {
    worker,
    change,
  }: {
    readonly worker: string;
    readonly change: {
      readonly state: string;
      readonly reason?: string;
      readonly due_at?: number;
      readonly attempts?: number;
    };
  },
  { transaction }: HandlerContext,
): Promise<void> {
  await transaction
    .updateTable("webhook_deliveries")
    .set({ ...change, worker: null, leased_until: null })
    .where("id", "=", id)
    .where("state", "=", "leased")
    .where("worker", "=", worker)
    .where("attempts", "=", attempt)
    .execute();
}

async function isSubscribed({ webhookId }: Attempted, { transaction }: HandlerContext): Promise<boolean> {
  const found = await transaction
    .selectFrom("webhooks")
    .select("id")
    .where("id", "=", webhookId)
    .executeTakeFirst();
  return found !== undefined;
}

/** Leaves a receiver alone for a while: what waits for it, and what will come in meanwhile. */
async function hold(
  { webhookId }: Attempted,
  retryAfterMs: number,
  { transaction, nowMs }: HandlerContext,
): Promise<void> {
  const held_until = nowMs + limitRetryAfterMs(retryAfterMs);
  await transaction.updateTable("webhooks").set({ held_until }).where("id", "=", webhookId).execute();
  await transaction
    .updateTable("webhook_deliveries")
    .set({ due_at: held_until })
    .where("state", "=", "queued")
    .where("webhook_row", "=", webhookId)
    .where("due_at", "<", held_until)
    .execute();
}

function toFraction(bytes: Buffer): number {
  return bytes.readUInt32BE() / 2 ** 32;
}
