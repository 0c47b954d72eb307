import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { sleep } from "../../src/client/sleep.ts";
import type { Job } from "../../src/worker/job.ts";
import { createWebhookJob } from "../../src/worker/webhooks/webhook-job.ts";
import { createWebhookPost, type WebhookPostSettings } from "../../src/worker/webhooks/webhook-request.ts";
import { createWebhookQueue } from "../../src/engine/webhooks/webhook-queue.ts";
import type { Harness } from "./backends.ts";
import { silentLog } from "./silent-log.ts";

/** Computes the signature of a delivery independently of the product. Source: Standard Webhooks. */
export function signatureOf(headers: IncomingHttpHeaders, body: string, secret: string): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = [headers["webhook-id"], headers["webhook-timestamp"], body].join(".");
  return `v1,${createHmac("sha256", key).update(signed, "utf8").digest("base64")}`;
}

interface DispatcherOptions extends Partial<WebhookPostSettings> {
  readonly worker?: string;
  readonly leaseMs?: number;
  readonly graceMs?: number;
}

/** A worker that delivers webhooks, including to this machine. */
export function openDispatcher(
  { work, clock }: Pick<Harness, "work" | "clock">,
  { worker = "one", leaseMs = 60_000, graceMs, ...post }: DispatcherOptions = {},
): Job {
  return createWebhookJob({
    queue: createWebhookQueue(work, { worker, leaseMs }),
    post: createWebhookPost({ clock, version: "1.2.3", ...post }),
    leaseMs,
    graceMs,
    clock,
    sleep,
    log: silentLog,
  });
}

/** Sends all due deliveries. */
export function runOnce(dispatcher: Job) {
  return dispatcher.runDue(new AbortController().signal);
}
