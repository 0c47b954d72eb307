import { got, type Got, type Response } from "got";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";
import { explainRefusedUrl } from "../../engine/webhooks/receiver-address.ts";
import { signMessage } from "../../engine/kernel/standard-webhooks.ts";
import type { BegunDelivery } from "../../engine/webhooks/webhook-queue.ts";
import type { AttemptOutcome } from "../../engine/webhooks/outcomes.ts";
import { createCheckedLookup, type Resolve } from "./checked-lookup.ts";
import { describeFailure } from "./webhook-failure.ts";
import { parseRetryAfter } from "../../contract/time.ts";

export interface WebhookPostSettings {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Version of the program. */
  readonly version: string;
  /** Whether webhooks may be sent to private addresses. */
  readonly isPrivateAllowed: boolean;
  /** For the complete request, including the DNS lookup (default: 15,000). */
  readonly timeoutMs?: number | undefined;
  /** Resolves host names (default: DNS). */
  readonly resolve?: Resolve | undefined;
}

/** Sends a request and returns its outcome. Never throws. */
export type WebhookPost = (begun: BegunDelivery, abort: AbortSignal) => Promise<AttemptOutcome>;

const defaultTimeoutMs = 15_000;

/** Maximum number of bytes of a response body that are read, and discarded, before the connection is closed. */
const maxBodyBytes = 65_536;

/**
 * Creates the function that sends webhook requests.
 * Assumed: the outcome depends only on the status, even if reading the body fails; a redirect is a failure, because its
 * target was not checked when the webhook was created.
 */
export function createWebhookPost(settings: WebhookPostSettings): WebhookPost {
  const { clock, isPrivateAllowed, resolve, timeoutMs = defaultTimeoutMs } = settings;
  // Connections are not reused, because a reused connection would bypass the address check.
  const client = got.extend({
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    decompress: false,
    timeout: { request: timeoutMs },
    dnsLookup: createCheckedLookup(isPrivateAllowed, resolve),
    agent: { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) },
    headers: { "content-type": "application/json", "user-agent": `starpost/${settings.version}` },
  });
  return async (begun, abort) => {
    const startedAtMs = clock();
    const outcome = await sendRequest(client, begun, { ...settings, abort, timeoutMs }).catch(
      (error: unknown) =>
        abort.aborted
          ? ({
              state: "aborted",
              problem: "the worker stopped during the request; it will be repeated",
            } as const)
          : ({ state: "failed", problem: describeFailure(error, timeoutMs) } as const),
    );
    return { ...outcome, durationMs: clock() - startedAtMs };
  };
}

interface RequestSettings extends WebhookPostSettings {
  readonly abort: AbortSignal;
  readonly timeoutMs: number;
}

type Outcome = AttemptOutcome extends infer O ? (O extends unknown ? Omit<O, "durationMs"> : never) : never;

async function sendRequest(client: Got, begun: BegunDelivery, settings: RequestSettings): Promise<Outcome> {
  const { clock, isPrivateAllowed, abort } = settings;
  const { url, eventId, body, secret } = begun;
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
    headers: {
      "webhook-id": eventId,
      "webhook-timestamp": timestamp,
      "webhook-signature": signMessage({ id: eventId, timestamp, body }, secret),
    },
  });
  try {
    const response = await waitForResponse(request);
    await discardBody(request);
    return toOutcome(response, clock());
  } finally {
    request.destroy();
  }
}

function waitForResponse(request: Readable): Promise<Response> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    // Also handles errors that occur after the response has started.
    request.on("error", reject);
  });
}

/** Reads the response body up to a limit, so that the receiver does not see an aborted connection. */
async function discardBody(request: Readable): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes >= maxBodyBytes) return;
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
