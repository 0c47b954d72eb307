import { got, type Got, type Response } from "got";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";
import { explainRefusedAddress, explainRefusedUrl } from "../../engine/webhooks/receiver-address.ts";
import { signMessage } from "../../engine/kernel/standard-webhooks.ts";
import type { BegunDelivery } from "../../engine/webhooks/webhook-queue.ts";
import type { AttemptOutcome } from "../../engine/webhooks/outcomes.ts";
import { webhookRequestLimits } from "../../contract/index.ts";
import { parseRetryAfter } from "../../contract/time.ts";
import type { LookupAddress } from "node:dns";
import { lookup as dnsLookup } from "node:dns/promises";
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

/** Resolves a host name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const resolveWithDns: Resolve = (hostname) => dnsLookup(hostname, { all: true });

/**
 * Creates a lookup function for connections that returns only public addresses. It is called once per connection, which
 * then uses one of the returned addresses, so a name that resolves differently a moment later has no effect.
 * Assumed: a name is refused if any of its addresses is refused.
 */
export function createCheckedLookup(isPrivateAllowed: boolean, resolve: Resolve = resolveWithDns): LookupFunction {
  const findAddresses = async (hostname: string) => {
    const addresses = await resolve(hostname);
    const refusal = isPrivateAllowed
      ? undefined
      : addresses.map(({ address }) => explainRefusedAddress(address)).find(Boolean);
    const fail = (problem: string, code: string) => Object.assign(new Error(`${hostname} ${problem}`), { code });
    if (refusal !== undefined) throw fail(`is not allowed: ${refusal}`, "ERR_ADDRESS_REFUSED");
    if (addresses.length > 0) return addresses;
    throw fail("has no address", "ENOTFOUND");
  };
  return (hostname, { all = false, family }, callback) => {
    void findAddresses(hostname).then(
      (addresses) => {
        const ofFamily = addresses.filter(
          (address) => typeof family !== "number" || family === 0 || address.family === family,
        );
        const result = ofFamily.length > 0 ? ofFamily : addresses;
        if (all) callback(null, [...result]);
        else callback(null, result[0]?.address ?? "", result[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, all ? [] : ""),
    );
  };
}

/** A name with a private address is described like a name without an address, so that it does not reveal which names exist. */
const noPublicAddress = "the host has no public address";

const descriptions: Readonly<Record<string, string>> = {
  ERR_ADDRESS_REFUSED: noPublicAddress,
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed before a response was received",
  EPIPE: "connection closed before a response was received",
  ENOTFOUND: noPublicAddress,
  EAI_AGAIN: "DNS lookup failed",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  EPROTO: "the receiver does not support TLS on this port",
  HPE_HEADER_OVERFLOW: "the response headers are too long",
};

/** Describes to the account why a request got no response, without addresses and names of the operator's network. */
export function describeFailure(error: unknown, timeoutMs: number): string {
  const { code = "" } = error as { readonly code?: string };
  const description = descriptions[code];
  if (description !== undefined) return description;
  if (code === "ETIMEDOUT") return `no response within ${timeoutMs / 1_000} s`;
  if (code.startsWith("HPE_")) return "the response is not valid HTTP";
  if (code.startsWith("ERR_SSL_")) return "the receiver does not support TLS on this port";
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return `the TLS certificate is not trusted (${code})`;
  return code === "" ? "connection failed" : `connection failed (${code})`;
}
