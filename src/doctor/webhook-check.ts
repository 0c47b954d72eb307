import { dayMs } from "../contract/time.ts";
import { countOf } from "../terminal/plural.ts";
import { type Check, ok, skipped, warning } from "./check.ts";

const name = "webhook-failures";

const maxShown = 3;

interface WebhookState {
  readonly url: string;
  readonly event: string;
  /** Failed attempts in the last 24 hours; undefined if a service does not report them. */
  readonly failures: number | undefined;
  readonly lastSuccessMs: number | null;
}

/** Reports the webhooks for which attempts failed in the last 24 hours and none succeeded. */
export function checkWebhooks(webhooks: readonly WebhookState[], nowMs: number): Check {
  if (webhooks.length === 0) return ok(name, "no webhooks");
  if (webhooks.every(({ failures }) => failures === undefined)) {
    return skipped(name, "the service does not report how deliveries have gone");
  }
  const failures = webhooks.reduce((sum, webhook) => sum + (webhook.failures ?? 0), 0);
  const failing = webhooks.filter(
    (webhook) => (webhook.failures ?? 0) > 0 && (webhook.lastSuccessMs ?? 0) <= nowMs - dayMs,
  );
  if (failing.length === 0) {
    return ok(name, `${countOf(webhooks.length, "webhook")}, ${countOf(failures, "failed attempt")} in the last 24 h`);
  }
  // The path of a URL may be secret.
  const shown = failing
    .slice(0, maxShown)
    .map(({ url, event, failures: failed = 0 }) => `${event} → ${new URL(url).origin} (${failed})`);
  const more = failing.length > maxShown ? `, and ${failing.length - maxShown} more` : "";
  return warning(
    name,
    `no delivery has succeeded in the last 24 h for ${failing.length} of ${countOf(webhooks.length, "webhook")}; failed attempts: ${shown.join(", ")}${more}`,
    "To see the reasons, run `starpost webhooks deliveries`.",
  );
}
