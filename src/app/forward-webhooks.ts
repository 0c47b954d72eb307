import type { ForwardSettings, ForwardWebhook } from "../service/webhook-forwarding.ts";
import type { WebhookPost } from "../worker/webhooks/webhook-request.ts";

/** Creates a function that sends webhook requests to any address, signed as those of a worker. */
export function openForwarder({ clock, version, url }: ForwardSettings): ForwardWebhook {
  let opened: Promise<WebhookPost> | undefined;
  // Loaded on demand, because every command loads this file.
  const open = async () =>
    (await import("../worker/webhooks/webhook-request.ts")).createWebhookPost({ clock, version });
  return async ({ eventId, body, secret }, signal) => {
    opened ??= open();
    const outcome = await (await opened)({ url, eventId, body, secret, isPrivateAllowed: true }, signal);
    return {
      durationMs: Math.round(outcome.durationMs),
      status: "status" in outcome ? outcome.status : undefined,
      problem: "problem" in outcome ? outcome.problem : undefined,
    };
  };
}
