import { acceptsIdempotencyKey, type Effect, endpointOf, idempotencyKeys, ServiceError } from "../contract/index.ts";
import type { RawResponse, RawRequest, SendRaw } from "../service/raw-call.ts";
import { hideSecrets, type OnTrace } from "../service/trace.ts";
import type { CallEvent, CallOptions, OutputOf, Transport } from "../service/transport.ts";
import { encodeCall } from "./call-encoder.ts";
import { type PacedCall, Pacer, type PacerOptions } from "./pacer.ts";
import { type HttpResponse, parseResponse, parseRefusal } from "./response-parser.ts";
import { readServiceLimit, serviceWaits } from "./service-limit.ts";
import { sleep as sleepByTimer, type Sleep, formatWait } from "./sleep.ts";
import { type SendOptions, Wire, type WireOptions, type WireRequest } from "./wire.ts";

export interface HttpTransportOptions extends Partial<RetryLimits>, WireOptions {
  /** Maximum calls per second; 0 disables pacing. */
  readonly ratePerSecond: number;
  /** How the rate is shared with other pacers (default: not shared). */
  readonly pace?: Pick<PacerOptions, "share" | "store" | "id">;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive); adds jitter to delays. */
  readonly random?: () => number;
  readonly sleep?: Sleep;
  /** Shows that a call will be retried, or that a response is slow. Used for calls without `onEvent`. */
  readonly onWait?: ((message: string) => void) | undefined;
  /** How long a response may take before `onWait` is called, in milliseconds (default: 5,000). */
  readonly slowAfterMs?: number;
  /** Receives every request, response, and wait. */
  readonly onTrace?: OnTrace | undefined;
}

/** A Transport that also sends calls that are not in the contract. */
export interface HttpTransport extends Transport {
  readonly send: SendRaw;
}

/**
 * Makes calls to a service over HTTP. Paces them, retries them if that is safe, and decodes responses by the contract.
 * @throws ServiceError `invalidParams` if the address of the service is not valid
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const client = openClient(options);
  return {
    call: async (operation, input, caller, callOptions = {}) => {
      const endpoint = endpointOf(operation);
      const { utoken } = caller;
      // A service ignores the keys of calls without a token, so such a call must not be repeated because of its key.
      const isKeyed = utoken !== undefined && acceptsIdempotencyKey(endpoint);
      const key = isKeyed ? callOptions.idempotencyKey : undefined;
      const { headers, ...encoded } = encodeCall(endpoint, input, caller);
      const request = {
        ...encoded,
        headers: { ...headers, ...(key !== undefined && { [idempotencyKeys.header]: key }) },
      };
      const prepared = { request, effect: endpoint.effect, key };
      const value = await sendWithRetries(client, prepared, callOptions, (response) => {
        const output = parseResponse(response, { endpoint, ...describeRequest(client, request, utoken) });
        if (key !== undefined) noteKey(client, key, response, callOptions);
        return output;
      });
      return value as OutputOf<typeof operation>;
    },
    send: (request, callOptions = {}) => sendRaw(client, request, callOptions),
    close: () => client.wire.close(),
  };
}

/** A service that honors the key of a call repeats it in the response. */
function noteKey(client: Client, key: string, { headers }: HttpResponse, { onEvent }: CallOptions): void {
  if (headers[idempotencyKeys.header] !== key) return;
  client.honorsKeys = true;
  onEvent?.({ type: "idempotency", isReplay: headers[idempotencyKeys.replayHeader] === "true" });
}

function openClient(options: HttpTransportOptions) {
  const { clock, random = Math.random, sleep = sleepByTimer, onWait, slowAfterMs = 5_000, onTrace } = options;
  const limits: RetryLimits = {
    maxAttempts: options.maxAttempts ?? defaultRetryLimits.maxAttempts,
    maxRetryMs: options.maxRetryMs ?? defaultRetryLimits.maxRetryMs,
  };
  const pacer = new Pacer({ ratePerSecond: options.ratePerSecond, clock, sleep, ...options.pace });
  // `honorsKeys`: whether the service is known to honor idempotency keys.
  const wire = new Wire(options);
  return { wire, pacer, clock, random, sleep, limits, onWait, slowAfterMs, onTrace, honorsKeys: false };
}

type Client = ReturnType<typeof openClient>;

function describeRequest({ wire, clock }: Client, { target }: WireRequest, utoken: string | undefined) {
  const { shown: service, responder } = wire;
  return { service, responder, path: target.split("?", 1)[0] ?? "", utoken, nowMs: clock() };
}

/** Returns the response also if the call was refused and is not retried. */
async function sendRaw(client: Client, raw: RawRequest, callOptions: CallOptions): Promise<RawResponse> {
  const { effect, utoken, ...request } = raw;
  let refused: RawResponse | undefined;
  try {
    return await sendWithRetries(client, { request, effect }, callOptions, (response) => {
      const refusal = parseRefusal(response, describeRequest(client, request, utoken));
      if (!refusal) return response;
      refused = { ...response, refusal };
      throw refusal;
    });
  } catch (error) {
    if (refused && error === refused.refusal) return refused;
    throw error;
  }
}

interface PreparedCall {
  readonly request: WireRequest;
  readonly effect: Effect;
  readonly key?: string | undefined;
}

/** Sends a request until it succeeds or must not be retried. */
async function sendWithRetries<T>(
  client: Client,
  prepared: PreparedCall,
  callOptions: CallOptions,
  parse: (response: HttpResponse) => T,
): Promise<T> {
  const { clock, random, sleep, limits, onTrace } = client;
  const startedAtMs = clock();
  const { maxAttempts = limits.maxAttempts } = callOptions;
  let failures = 0;
  for (let attempt = 1; ; attempt += 1) {
    const paced = await waitForTurn(client, callOptions);
    callOptions.onEvent?.({ type: "attempt", attempt });
    try {
      return await sendOnce(client, { ...prepared, paced }, callOptions, parse);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.kind !== "tooManyRequests") failures += 1;
      // With a key that the service honors, a repeat changes nothing again.
      const isKeyed = prepared.key !== undefined && client.honorsKeys;
      const effect = isKeyed ? "repeatable" : prepared.effect;
      const spentMs = clock() - startedAtMs;
      const failed = { error, effect, attempt: Math.max(1, failures), spentMs, random };
      const retry = planRetry(failed, { ...limits, maxAttempts });
      if (!retry) throw error;
      const { reason, ms, message } = retry;
      onTrace?.({ type: "wait", reason, ms, message });
      if (callOptions.onEvent) callOptions.onEvent({ type: "wait", ...retry });
      else if (reason === "retry" || ms >= client.slowAfterMs) client.onWait?.(message);
      await sleep(ms, callOptions.signal);
    }
  }
}

/** Shorter waits are the overhead of the pacer. */
const minTracedWaitMs = 10;

/** Waits until the pacer lets a call start. Traces long waits before, and short ones after. */
async function waitForTurn(client: Client, callOptions: CallOptions): Promise<PacedCall> {
  const { pacer, clock, onTrace, onWait, slowAfterMs } = client;
  if (!onTrace) {
    const onEvent = (event: CallEvent) => {
      if (event.type === "wait" && event.reason === "throttled" && event.ms >= slowAfterMs) onWait?.(event.message);
    };
    return pacer.acquire({ onEvent, ...callOptions });
  }
  let isTraced = false;
  const onEvent = (event: CallEvent) => {
    callOptions.onEvent?.(event);
    if (event.type !== "wait") return;
    isTraced = true;
    const { reason, ms, message } = event;
    onTrace({ type: "wait", reason, ms, message });
  };
  const startedAtMs = clock();
  const paced = await pacer.acquire({ ...callOptions, onEvent });
  const ms = clock() - startedAtMs;
  if (!isTraced && ms >= minTracedWaitMs) {
    onTrace({ type: "wait", reason: "pace", ms, message: `paced: waited ${ms} ms` });
  }
  return paced;
}

/** Sends a request, adjusts the pacer to the response, and parses the response. */
async function sendOnce<T>(
  client: Client,
  { request, effect, paced }: PreparedCall & { readonly paced: PacedCall },
  { signal, onEvent }: CallOptions,
  parse: (response: HttpResponse) => T,
): Promise<T> {
  const { pacer, clock, wire, onWait, slowAfterMs } = client;
  const message = `no response from ${wire.shown} for ${slowAfterMs / 1_000} s; still waiting`;
  const slow = onEvent || !onWait ? undefined : setTimeout(() => onWait(message), slowAfterMs).unref();
  const options = { effect, signal, onSent: () => paced.sent() };
  const response = await sendTraced(client, request, options).finally(() => clearTimeout(slow));
  paced.answered();
  const limit = readServiceLimit(response.headers, clock());
  if (limit) {
    const { remaining, resetAtSeconds, resetInMs } = limit;
    onEvent?.({ type: "limit", remaining, resetAtSeconds });
    if (remaining === 0) pacer.hold(resetInMs);
  }
  try {
    const value = parse(response);
    pacer.recover();
    return value;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "tooManyRequests") {
      const { retryAfterMs = 0 } = error;
      // A call that waits longer ends, so others need not wait for that time either.
      pacer.throttle(retryAfterMs > serviceWaits.eachMs ? leastAfter429Ms : Math.max(leastAfter429Ms, retryAfterMs));
    }
    throw error;
  }
}

async function sendTraced(
  { wire, clock, onTrace }: Client,
  request: WireRequest,
  options: SendOptions,
): Promise<HttpResponse> {
  if (!onTrace) return wire.send(request, options);
  const { method } = request;
  const target = hideSecrets(method, request.target);
  const path = target.split("?", 1)[0] ?? "";
  const startedAtMs = clock();
  onTrace({ type: "request", method, target });
  try {
    const response = await wire.send(request, options);
    const { status, headers, bytes } = response;
    const named = headers["x-request-id"] ?? headers["request-id"];
    const request_id = Array.isArray(named) ? named[0] : named;
    const duration_ms = clock() - startedAtMs;
    onTrace({ type: "response", method, path, status, duration_ms, bytes: bytes.length, request_id });
    return response;
  } catch (error) {
    const { message } = error as Error;
    onTrace({ type: "failure", method, path, duration_ms: clock() - startedAtMs, message });
    throw error;
  }
}

export interface RetryLimits {
  /** Maximum number of attempts of a call, not counting those refused with status 429. */
  readonly maxAttempts: number;
  /** No attempt starts later than this after the first, in milliseconds, unless the service asked to wait longer before. */
  readonly maxRetryMs: number;
}

export const defaultRetryLimits: RetryLimits = { maxAttempts: 6, maxRetryMs: 120_000 };

export interface FailedAttempt {
  readonly error: ServiceError;
  readonly effect: Effect;
  /** The number of the failed attempt, starting from 1, not counting those refused with status 429. */
  readonly attempt: number;
  /** Milliseconds since the first attempt started. */
  readonly spentMs: number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

export interface PlannedRetry {
  readonly reason: "throttled" | "retry";
  readonly ms: number;
  readonly message: string;
  readonly mayBeDone: boolean;
}

/** Full jitter: a random delay up to a bound that doubles with each attempt. */
const backoff = { firstMs: 500, mostMs: 20_000, leastMs: 50 } as const;

/** Minimum delay after a 429. Source: spec "Limits": a fixed second is sufficient. */
const leastAfter429Ms = 1_000;

/** Spreads the retries of calls that were refused together. */
const spreadAfter429Ms = 250;

/**
 * Whether a failed call may be retried.
 * A call that may have been carried out is retried only if carrying it out twice has the same effect as once.
 */
export function mayRepeat(error: ServiceError, effect: Effect): boolean {
  return error.temporary && !(error.outcomeUnknown && effect === "once");
}

/** Decides whether and when to retry. */
export function planRetry(failed: FailedAttempt, limits: RetryLimits): PlannedRetry | undefined {
  const { error, effect, attempt, spentMs } = failed;
  const isThrottled = error.kind === "tooManyRequests";
  // A service that throttles is running, so only the time limit applies.
  if ((attempt >= limits.maxAttempts && !isThrottled) || !mayRepeat(error, effect)) return undefined;
  const ms = delayMs(failed);
  const { retryAfterMs = 0 } = error;
  const isLate = retryAfterMs > 0 ? spentMs >= limits.maxRetryMs : spentMs + ms > limits.maxRetryMs;
  if (isLate || retryAfterMs > serviceWaits.eachMs) return undefined;
  const reason = isThrottled ? "the service is throttling calls (429)" : error.message;
  return {
    reason: isThrottled ? "throttled" : "retry",
    ms,
    message: `${reason}; retrying in ${formatWait(ms)}`,
    mayBeDone: error.outcomeUnknown,
  };
}

function delayMs({ error, attempt, random }: FailedAttempt): number {
  const asked = error.retryAfterMs ?? 0;
  if (error.kind === "tooManyRequests") {
    return Math.ceil(Math.max(asked, leastAfter429Ms) + random() * spreadAfter429Ms);
  }
  const bound = Math.min(backoff.mostMs, backoff.firstMs * 2 ** (attempt - 1));
  return Math.ceil(Math.max(asked, backoff.leastMs, random() * bound));
}
