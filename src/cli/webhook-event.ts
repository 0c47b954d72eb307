import { Problem } from "../config/problem.ts";
import { type WebhookEvent, webhookEvents } from "../contract/webhooks.ts";

/** The name of an event. */
export function readEvent(text: string, flag: string): WebhookEvent {
  const found = webhookEvents.find((name) => name === text);
  if (found) return found;
  throw new Problem("usage", `${flag}: ${JSON.stringify(text)} is not one of ${webhookEvents.join(", ")}`);
}
