import type { WebhookAttempt, WebhookDelivery } from "../../../contract/webhooks/deliveries.ts";
import { formatTime, formatWait } from "../mail/email-format.ts";

/**
 * Where a delivery stands, for a screen.
 * @param nowMs says when it is sent again by how long it is until then
 */
export function wordState({ state, due_at, reason, attempts }: WebhookDelivery, nowMs?: number): string {
  if (state === "leased") return "being sent";
  if (state === "delivered") return "delivered";
  if (state === "failed") return `failed: ${reason ?? "it is not known why"}`;
  if (attempts === 0 || due_at === null) return "waits";
  const when = nowMs === undefined ? `at ${formatTime(due_at)}` : formatWait(Date.parse(due_at), nowMs);
  return `again ${when}${reason === null ? "" : `: ${reason}`}`;
}

/** What came of one request. */
export function wordAttempt({ started_at, duration_ms, status, problem }: WebhookAttempt): string {
  const what = problem ?? (status === null ? "under way" : `answered ${status}`);
  return `${formatTime(started_at)}  ${what}${duration_ms === null ? "" : ` (${wordDuration(duration_ms)})`}`;
}

/** A short time: `34 ms`, `1.2 s`. */
export function wordDuration(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
