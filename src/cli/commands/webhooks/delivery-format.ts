import type { WebhookAttempt, WebhookDelivery } from "../../../contract/webhooks/webhooks.ts";
import type { WebhookEvent } from "../../../contract/index.ts";
import { valuesOfField } from "../../program/field-values.ts";
import { formatTime, formatWait } from "../mail/email-format.ts";

/** The events that webhooks can receive. */
export const eventNames = valuesOfField("webhooks.create", "event_name") as readonly WebhookEvent[];

/**
 * Describes the state of a delivery.
 * @param nowMs if given, the next attempt is described by the time until it, otherwise by its timestamp
 */
export function describeState({ state, due_at, reason, attempts }: WebhookDelivery, nowMs?: number): string {
  if (state === "leased") return "sending";
  if (state === "delivered") return "delivered";
  if (state === "failed") return `failed: ${reason ?? "unknown reason"}`;
  if (attempts === 0 || due_at === null) return "queued";
  const when = nowMs === undefined ? `at ${formatTime(due_at)}` : formatWait(Date.parse(due_at), nowMs);
  return `retry ${when}${reason === null ? "" : `: ${reason}`}`;
}

export function describeAttempt({ started_at, duration_ms, status, problem }: WebhookAttempt): string {
  const outcome = problem ?? (status === null ? "in progress" : `response status ${status}`);
  return `${formatTime(started_at)}  ${outcome}${duration_ms === null ? "" : ` (${formatMs(duration_ms)})`}`;
}

/** Formats a duration: `34 ms`, `1.2 s`. */
export function formatMs(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** The URL that a delivery is sent to, which is unknown once its webhook is deleted. */
export function describeTarget({ url, webhook_id }: Pick<WebhookDelivery, "url" | "webhook_id">): string {
  return url ?? `webhook ${webhook_id} (deleted)`;
}
