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
  /** Of the program. */
  readonly version: string;
  /** Whether machines of the own network may be called. */
  readonly isPrivateAllowed: boolean;
  /** From the look-up of the name to the end of the answer; 15 s where absent. */
  readonly timeLimitMs?: number | undefined;
  /** How names are looked up; by the system where absent. */
  readonly resolve?: Resolve | undefined;
}

/** Sends an attempt, and tells what came of it; it never throws. */
export type WebhookPost = (begun: BegunDelivery, cutOff: AbortSignal) => Promise<AttemptOutcome>;

const usualTimeLimitMs = 15_000;

/** Of an answer's body so much is taken in, and thrown away, before the connection is closed. */
const mostAnswerBytes = 65_536;

/**
 * Assumed: an attempt's status decides as soon as it is there, whatever becomes of the body behind it; a redirect is a
 * failure, since its target was not checked when the address was subscribed.
 */
export function createWebhookPost(settings: WebhookPostSettings): WebhookPost {
  const { clock, isPrivateAllowed, resolve, timeLimitMs = usualTimeLimitMs } = settings;
  // Each attempt has a connection of its own: one that is kept would go by an address that was checked long ago.
  const client = got.extend({
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    decompress: false,
    timeout: { request: timeLimitMs },
    dnsLookup: createCheckedLookup(isPrivateAllowed, resolve),
    agent: { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) },
    headers: { "content-type": "application/json", "user-agent": `starpost/${settings.version}` },
  });
  return async (begun, cutOff) => {
    const startedAtMs = clock();
    const outcome = await attempt(client, begun, { ...settings, cutOff, timeLimitMs }).catch(
      (error: unknown) =>
        cutOff.aborted
          ? ({ state: "cut_off", problem: "its worker stopped; it is sent again" } as const)
          : ({ state: "failed", problem: describeFailure(error, timeLimitMs) } as const),
    );
    return { ...outcome, durationMs: clock() - startedAtMs };
  };
}

interface Attempting extends WebhookPostSettings {
  readonly cutOff: AbortSignal;
  readonly timeLimitMs: number;
}

type Outcome = AttemptOutcome extends infer O ? (O extends unknown ? Omit<O, "durationMs"> : never) : never;

async function attempt(client: Got, begun: BegunDelivery, attempting: Attempting): Promise<Outcome> {
  const { clock, isPrivateAllowed, cutOff } = attempting;
  const { url, eventId, body, secret } = begun;
  // A host that is an address itself is never looked up.
  const refusal = explainRefusedUrl(url, isPrivateAllowed);
  if (refusal !== undefined) return { state: "failed", problem: `the address ${refusal}` };
  if (secret === undefined) {
    return { state: "failed", problem: "its secret cannot be opened with the key of this machine" };
  }
  const timestamp = String(Math.floor(clock() / 1_000));
  const request = client.stream.post(url, {
    body,
    signal: cutOff,
    headers: {
      "webhook-id": eventId,
      "webhook-timestamp": timestamp,
      "webhook-signature": signMessage({ id: eventId, timestamp, body }, secret),
    },
  });
  try {
    const answer = await readAnswer(request);
    await discardBody(request);
    return judge(answer, clock());
  } finally {
    request.destroy();
  }
}

function readAnswer(request: Readable): Promise<Response> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    // Also of what goes wrong later, when nobody waits for it any more.
    request.on("error", reject);
  });
}

/** Takes in the rest of an answer, so that its sender sees it end, as far as that is short. */
async function discardBody(request: Readable): Promise<void> {
  let bytes = 0;
  try {
    for await (const piece of request) {
      bytes += (piece as Buffer).length;
      if (bytes >= mostAnswerBytes) return;
    }
  } catch {
    // The status is there already.
  }
}

function judge({ statusCode: status, headers }: Response, nowMs: number): Outcome {
  if (status >= 200 && status <= 299) return { state: "delivered", status };
  if (status === 410) return { state: "gone", status };
  const retryAfterMs = parseRetryAfter(headers["retry-after"], nowMs);
  const isRedirect = status >= 300 && status <= 399;
  const problem = isRedirect ? `answered ${status}: redirects are not followed` : `answered ${status}`;
  return { state: "failed", status, problem, retryAfterMs };
}
