import { deleteRows, findRow, updateAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountIdOf, type HandlerContext } from "../kernel/handler.ts";
import { dayMs, hourMs, minuteMs } from "../../contract/time.ts";

/**
 * Outcome of an attempt.
 * - `delivered`: a status from 200 to 299
 * - `failed`: any other status, or no response
 * - `gone`: status 410, with which a receiver asks to receive nothing more
 * - `aborted`: the worker stopped during the request; does not count as an attempt
 */
export type AttemptOutcome = { readonly durationMs: number } & (
  | { readonly state: "delivered"; readonly status: number }
  | {
      readonly state: "failed";
      readonly status?: number | undefined;
      readonly problem: string;
      /** What the operator may know but the account may not, such as an address in a private network; only logged. */
      readonly detail?: string | undefined;
      /** Delay that the receiver requested. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly state: "gone"; readonly status: number }
  | { readonly state: "aborted"; readonly problem: string }
);

/** What an outcome means for the delivery. `deferred`: it will be tried again. */
export const deliveryResults = ["delivered", "deferred", "failed"] as const;
export type DeliveryResult = (typeof deliveryResults)[number];

interface BegunAttempt {
  readonly id: number;
  readonly webhookId: number;
  readonly attemptId: number;
  readonly attempt: number;
}

export const deletedReason = "the webhook was deleted";
const goneReason = "the receiver responded with status 410, so the webhook was deleted";

/**
 * Stores the outcome of an attempt and updates the delivery. If the worker has lost the lease, stores only a successful
 * delivery.
 * Assumed: a webhook gets one delivery at a time, in order of due times; later deliveries do not wait for the retry of a
 * failed one. `Retry-After` delays all deliveries to the webhook.
 */
export async function recordOutcome(
  begun: BegunAttempt,
  { worker, outcome }: { readonly worker: string; readonly outcome: AttemptOutcome },
  context: HandlerContext,
): Promise<DeliveryResult> {
  await recordAttempt(begun, outcome, context);
  if (outcome.state === "delivered") return recordDelivered(begun, context);
  if (outcome.state === "aborted") {
    const requeued = await requeue(begun.webhookId, context);
    await updateLeased(begun, { worker, change: { ...requeued, attempts: begun.attempt - 1 } }, context);
    return requeued.state === "queued" ? "deferred" : "failed";
  }
  if (outcome.state === "gone") {
    await deleteWebhook(begun.webhookId, goneReason, context);
    await updateLeased(begun, { worker, change: { state: "failed", reason: goneReason } }, context);
    return "failed";
  }
  const { problem, retryAfterMs = 0 } = outcome;
  if (retryAfterMs > 0) await pauseWebhook(begun, retryAfterMs, context);
  const waitMs = (await isSubscribed(begun, context))
    ? planRetryMs(begun.attempt, retryAfterMs, toFraction(context.random(4)))
    : undefined;
  const change =
    waitMs === undefined
      ? { state: "failed", reason: problem }
      : { state: "queued", reason: problem, due_at: context.nowMs + waitMs };
  await updateLeased(begun, { worker, change }, context);
  return waitMs === undefined ? "failed" : "deferred";
}

/** Returns the new state of a delivery that is to be sent again: without its webhook, it has failed. */
export async function requeue(
  webhookId: number,
  context: HandlerContext,
): Promise<{ readonly state: "queued" | "failed"; readonly reason?: string }> {
  return (await isSubscribed({ webhookId }, context))
    ? { state: "queued" }
    : { state: "failed", reason: deletedReason };
}

async function recordAttempt(
  { attemptId }: BegunAttempt,
  outcome: AttemptOutcome,
  context: HandlerContext,
): Promise<void> {
  const status = "status" in outcome ? (outcome.status ?? null) : null;
  const problem = outcome.state === "gone" ? goneReason : "problem" in outcome ? outcome.problem : null;
  await updateAccountRows("webhook_attempts", accountIdOf(context), context.transaction)
    .set({ duration_ms: Math.round(outcome.durationMs), status, problem })
    .where("id", "=", attemptId)
    .execute();
}

async function recordDelivered({ id }: BegunAttempt, context: HandlerContext): Promise<"delivered"> {
  await updateAccountRows("webhook_deliveries", accountIdOf(context), context.transaction)
    .set({ state: "delivered", delivered_at: context.nowMs, reason: null, worker: null, leased_until: null })
    .where("id", "=", id)
    .where("state", "!=", "delivered")
    .execute();
  return "delivered";
}

/** Updates a delivery and ends its lease, if the worker still holds it for this attempt. */
async function updateLeased(
  { id, attempt }: BegunAttempt,
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
  context: HandlerContext,
): Promise<void> {
  await updateRows(
    "webhook_deliveries",
    { ...change, worker: null, leased_until: null },
    { id, state: "leased", worker, attempts: attempt },
    context,
  );
}

async function isSubscribed({ webhookId }: Pick<BegunAttempt, "webhookId">, context: HandlerContext): Promise<boolean> {
  const found = await findRow("webhooks", ["id"], { id: webhookId }, context);
  return found !== undefined;
}

/** Delays all queued and new deliveries to a webhook. */
async function pauseWebhook({ webhookId }: BegunAttempt, retryAfterMs: number, context: HandlerContext): Promise<void> {
  const { transaction, nowMs } = context;
  const account_id = accountIdOf(context);
  const held_until = nowMs + limitRetryAfterMs(retryAfterMs);
  await updateRows("webhooks", { held_until }, { account_id, id: webhookId }, { transaction });
  await updateAccountRows("webhook_deliveries", account_id, transaction)
    .set({ due_at: held_until })
    .where("state", "=", "queued")
    .where("webhook_row", "=", webhookId)
    .where("due_at", "<", held_until)
    .execute();
}

function toFraction(bytes: Buffer): number {
  return bytes.readUInt32BE() / 2 ** 32;
}

/**
 * Delay after each failed attempt: ten attempts over slightly more than three days.
 * Source: Standard Webhooks, whose example covers two days.
 */
export const retryDelaysMs: readonly number[] = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** Maximum delay that a receiver can request with `Retry-After`. */
const maxRetryAfterMs = dayMs;

/** Maximum random extension of a delay, as a fraction. Spreads retries of deliveries that failed together. */
const jitter = 0.2;

/**
 * Returns the delay after a failed attempt, or undefined if it was the last.
 * @param attempt number of the attempt in its series, starting at 1
 * @param random at least 0 and less than 1
 * Assumed: `Retry-After` can extend a delay, up to a day, but not shorten it.
 */
function planRetryMs(attempt: number, retryAfterMs: number, random: number): number | undefined {
  const delayMs = retryDelaysMs[attempt - 1];
  if (delayMs === undefined) return undefined;
  return Math.max(Math.ceil(delayMs * (1 + jitter * random)), limitRetryAfterMs(retryAfterMs));
}

/** Limits the delay that a receiver requested. */
function limitRetryAfterMs(retryAfterMs: number): number {
  return Math.min(retryAfterMs, maxRetryAfterMs);
}

/** Deletes a webhook. Its queued deliveries fail with the reason; a delivery in flight is not retried. */
export async function deleteWebhook(webhookId: number, reason: string, context: HandlerContext): Promise<void> {
  const { transaction } = context;
  const account_id = accountIdOf(context);
  await deleteRows("webhooks", { account_id, id: webhookId }, { transaction });
  await updateAccountRows("webhook_deliveries", account_id, transaction)
    .set({ state: "failed", reason })
    .where("state", "=", "queued")
    .where("webhook_row", "=", webhookId)
    .execute();
}
