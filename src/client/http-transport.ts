import { type Effect, endpointOf, ServiceError } from "../contract/index.ts";
import type { RawAnswer, RawRequest, SendRaw } from "../service/raw-call.ts";
import type { CallOptions, OutputOf, Transport } from "../service/transport.ts";
import { encodeCall } from "./encode-call.ts";
import { Pacer, type PacerOptions } from "./pacer.ts";
import { type Answer, readAnswer, readRefusal } from "./read-answer.ts";
import { defaultRetryLimits, planRetry, type RetryLimits } from "./retry-policy.ts";
import { readServiceLimit } from "./service-limit.ts";
import { sleep as sleepByTimer, type Sleep } from "./sleep.ts";
import { Wire, type WireOptions, type WireRequest } from "./wire.ts";

export interface HttpTransportOptions extends Partial<RetryLimits>, WireOptions {
  /** Most calls started in any second; 0 is no pacing. */
  readonly ratePerSecond: number;
  /** What that rate is shared with; nobody where absent. */
  readonly pace?: Pick<PacerOptions, "share" | "store" | "id">;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** From 0 up to, and without, 1: the jitter of waits. */
  readonly random?: () => number;
  readonly sleep?: Sleep;
  /** Told of a wait for another try of a call, where whoever makes the call does not listen. */
  readonly onWait?: ((message: string) => void) | undefined;
  /** Milliseconds without an answer after which that is told as well: nobody looks for long at a screen that is still. */
  readonly patienceMs?: number;
}

/** A Transport that also sends calls which the contract does not have. */
export interface HttpTransport extends Transport {
  readonly send: SendRaw;
}

/**
 * Carries calls to a service over HTTP: paced, repeated where that is safe, decoded by the contract.
 * @throws ServiceError `invalidParams` when the address is none
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { clock, random = Math.random, sleep = sleepByTimer } = options;
  const limits: RetryLimits = {
    maxAttempts: options.maxAttempts ?? defaultRetryLimits.maxAttempts,
    maxRetryMs: options.maxRetryMs ?? defaultRetryLimits.maxRetryMs,
  };
  const pacer = new Pacer({ ratePerSecond: options.ratePerSecond, clock, sleep, ...options.pace });
  const wire = new Wire(options);
  const { onWait, patienceMs = 5_000 } = options;
  const carrier: Carrier = { wire, pacer, clock, random, sleep, limits, onWait, patienceMs };
  return {
    call: async (operation, input, caller, callOptions = {}) => {
      const endpoint = endpointOf(operation);
      const request = encodeCall(endpoint, input, caller);
      const { utoken } = caller;
      const found = await carry(carrier, { request, effect: endpoint.effect }, callOptions, (answer) =>
        readAnswer(answer, { endpoint, ...aboutCall(carrier, request, utoken) }),
      );
      return found as OutputOf<typeof operation>;
    },
    send: (request, callOptions = {}) => sendRaw(carrier, request, callOptions),
    close: () => wire.close(),
  };
}

interface Carrier {
  readonly wire: Wire;
  readonly pacer: Pacer;
  readonly clock: () => number;
  readonly random: () => number;
  readonly sleep: Sleep;
  readonly limits: RetryLimits;
  readonly onWait: HttpTransportOptions["onWait"];
  readonly patienceMs: number;
}

function aboutCall({ wire, clock }: Carrier, { target }: WireRequest, utoken: string | undefined) {
  const { shown: service, answerer } = wire;
  return { service, answerer, path: target.split("?", 1)[0] ?? "", utoken, nowMs: clock() };
}

/** An answer that refuses is given back as well, once it is not worth another try. */
async function sendRaw(carrier: Carrier, raw: RawRequest, callOptions: CallOptions): Promise<RawAnswer> {
  const { effect, utoken, ...request } = raw;
  let refused: RawAnswer | undefined;
  try {
    return await carry(carrier, { request, effect }, callOptions, (answer) => {
      const refusal = readRefusal(answer, aboutCall(carrier, request, utoken));
      if (!refusal) return answer;
      refused = { ...answer, refusal };
      throw refusal;
    });
  } catch (error) {
    if (refused && error === refused.refusal) return refused;
    throw error;
  }
}

interface Prepared {
  readonly request: WireRequest;
  readonly effect: Effect;
}

/** Sends a request until it is answered, or is not worth another try. */
async function carry<T>(
  carrier: Carrier,
  prepared: Prepared,
  callOptions: CallOptions,
  read: (answer: Answer) => T,
): Promise<T> {
  const { pacer, clock, random, sleep, limits } = carrier;
  const startedAtMs = clock();
  const { maxAttempts = limits.maxAttempts } = callOptions;
  let failures = 0;
  for (let attempt = 1; ; attempt += 1) {
    await pacer.acquire(callOptions);
    callOptions.onEvent?.({ type: "attempt", attempt });
    try {
      return await sendOnce(carrier, prepared, callOptions, read);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.kind !== "tooManyRequests") failures += 1;
      const { effect } = prepared;
      const spentMs = clock() - startedAtMs;
      const failed = { error, effect, attempt: Math.max(1, failures), spentMs, random };
      const retry = planRetry(failed, { ...limits, maxAttempts });
      if (!retry) throw error;
      if (callOptions.onEvent) callOptions.onEvent({ type: "wait", ...retry });
      else if (retry.reason === "retry") carrier.onWait?.(retry.message);
      await sleep(retry.ms, callOptions.signal);
    }
  }
}

function tellIfSlow({ wire, onWait, patienceMs }: Carrier): NodeJS.Timeout | undefined {
  if (!onWait) return undefined;
  const told = `${wire.shown} has not answered for ${patienceMs / 1_000} s; still waiting`;
  return setTimeout(() => onWait(told), patienceMs).unref();
}

/** Sends a request, tells the pacer how the service took it, and reads the answer. */
async function sendOnce<T>(
  carrier: Carrier,
  { request, effect }: Prepared,
  { signal, onEvent }: CallOptions,
  read: (answer: Answer) => T,
): Promise<T> {
  const { wire, pacer, clock } = carrier;
  const slow = onEvent ? undefined : tellIfSlow(carrier);
  const answer = await wire.send(request, effect, signal).finally(() => clearTimeout(slow));
  const limit = readServiceLimit(answer.headers, clock());
  if (limit) {
    const { remaining, resetAtSeconds, resetInMs } = limit;
    onEvent?.({ type: "limit", remaining, resetAtSeconds });
    if (remaining === 0) pacer.hold(resetInMs);
  }
  try {
    const value = read(answer);
    pacer.recover();
    return value;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "tooManyRequests") {
      pacer.throttle(Math.max(1_000, error.retryAfterMs ?? 0));
    }
    throw error;
  }
}
