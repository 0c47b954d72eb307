import { got, type Got, type Response } from "got";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";
import { createCheckedLookup, describeFailure, type Resolve } from "../../engine/webhooks/checked-request.ts";
import { explainRefusedUrl } from "../../engine/webhooks/receiver-address.ts";
import { signMessage } from "../../engine/kernel/standard-webhooks.ts";
import type { BegunDelivery } from "../../engine/webhooks/webhook-queue.ts";
import type { AttemptOutcome } from "../../engine/webhooks/outcomes.ts";
import { webhookRequestLimits } from "../../contract/index.ts";
import { parseRetryAfter } from "../../contract/time.ts";
import type { LookupFunction } from "node:net";

export interface WebhookPostSettings {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly version: string;
  /** For the complete request, including the DNS lookup (default: 15,000). */
  readonly timeoutMs?: number | undefined;
  /** Resolves host names (default: DNS). */
  readonly resolve?: Resolve | undefined;
}

/** Sends a request and returns its outcome. Never throws. */
export type WebhookPost = (request: WebhookRequest, abort: AbortSignal) => Promise<AttemptOutcome>;

type WebhookRequest = Partial<BegunDelivery> &
  Pick<BegunDelivery, "url" | "eventId" | "body" | "secret" | "isPrivateAllowed">;

/**
 * Creates the function that sends webhook requests.
 * Assumed: the outcome depends only on the status, even if reading the body fails; a redirect is a failure, because its
 * target was not checked when the webhook was created.
 */
export function createWebhookPost(settings: WebhookPostSettings): WebhookPost {
  const { clock, resolve, timeoutMs = webhookRequestLimits.ms } = settings;
  const lookups = { public: createCheckedLookup(false, resolve), any: createCheckedLookup(true, resolve) };
  // Connections are not reused, because a reused connection would bypass the address check.
  const client = got.extend({
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    decompress: false,
    timeout: { request: timeoutMs },
    agent: { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) },
    headers: { "content-type": "application/json", "user-agent": `starpost/${settings.version}` },
  });
  return async (begun, abort) => {
    const startedAtMs = clock();
    const lookup = begun.isPrivateAllowed ? lookups.any : lookups.public;
    const outcome = await sendRequest(client, begun, { clock, abort, lookup, timeoutMs }).catch(
      (error: Error): Outcome => {
        if (!abort.aborted)
          return { state: "failed", problem: describeFailure(error, timeoutMs), detail: error.message };
        return { state: "aborted", problem: "the worker stopped during the request; it will be repeated" };
      },
    );
    return { ...outcome, durationMs: clock() - startedAtMs };
  };
}

interface RequestSettings extends Pick<WebhookPostSettings, "clock"> {
  readonly abort: AbortSignal;
  readonly lookup: LookupFunction;
  readonly timeoutMs: number;
}

type Outcome = AttemptOutcome extends infer O ? (O extends unknown ? Omit<O, "durationMs"> : never) : never;

async function sendRequest(client: Got, begun: WebhookRequest, settings: RequestSettings): Promise<Outcome> {
  const { clock, abort, lookup, timeoutMs } = settings;
  const { url, eventId, body, secret, isPrivateAllowed } = begun;
  // IP addresses are not looked up, so they are checked here.
  const refusal = explainRefusedUrl(url, isPrivateAllowed);
  if (refusal !== undefined) return { state: "failed", problem: `the URL ${refusal}` };
  if (secret === undefined) {
    return { state: "failed", problem: "the secret cannot be decrypted with the key of this machine" };
  }
  const timestamp = String(Math.floor(clock() / 1_000));
  const request = client.stream.post(url, {
    body,
    signal: abort,
    dnsLookup: lookup,
    headers: {
      "webhook-id": eventId,
      "webhook-timestamp": timestamp,
      "webhook-signature": signMessage({ id: eventId, timestamp, body }, secret),
    },
  });
  try {
    const response = await waitForResponse(request, timeoutMs);
    await discardBody(request);
    return toOutcome(response, clock());
  } finally {
    request.destroy();
  }
}

async function waitForResponse(request: Readable, timeoutMs: number): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      request.once("response", resolve);
      // Also handles errors that occur after the response has started.
      request.on("error", reject);
      // The client does not end requests whose receiver switches to another protocol (101).
      timer = setTimeout(reject, timeoutMs, Object.assign(new Error("no response"), { code: "ETIMEDOUT" }));
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the response body up to a limit, so that the receiver does not see an aborted connection. */
async function discardBody(request: Readable): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes >= webhookRequestLimits.responseBytes) return;
    }
  } catch {
    // The status is already known.
  }
}

function toOutcome({ statusCode: status, headers }: Response, nowMs: number): Outcome {
  if (status >= 200 && status <= 299) return { state: "delivered", status };
  if (status === 410) return { state: "gone", status };
  const retryAfterMs = parseRetryAfter(headers["retry-after"], nowMs);
  const isRedirect = status >= 300 && status <= 399;
  const problem = isRedirect ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
  return { state: "failed", status, problem, retryAfterMs };
}
