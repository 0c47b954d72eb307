import { got, type Got } from "got";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type Effect, type Endpoint, endpointOf, ServiceError } from "../contract/index.ts";
import type { Caller, CallOptions, OutputOf, Transport } from "../service/transport.ts";
import { type BaseUrl, readBaseUrl } from "./base-url.ts";
import { asServiceError } from "./connection-failure.ts";
import { encodeCall, type EncodedCall } from "./encode-call.ts";
import { Pacer, type PacerOptions } from "./pacer.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { defaultRetryLimits, planRetry, type RetryLimits } from "./retry-policy.ts";
import { readServiceLimit } from "./service-limit.ts";
import { sleep as sleepByTimer, type Sleep } from "./sleep.ts";

export interface HttpTransportOptions extends Partial<RetryLimits> {
  readonly baseUrl: string;
  /** Most calls started in any second; 0 is no pacing. */
  readonly ratePerSecond: number;
  /** What that rate is shared with; nobody where absent. */
  readonly pace?: Pick<PacerOptions, "share" | "store" | "id">;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly userAgent?: string;
  /** From sending a request to its whole answer; 60 s where absent. */
  readonly requestTimeoutMs?: number;
  /** From 0 up to, and without, 1: the jitter of waits. */
  readonly random?: () => number;
  readonly sleep?: Sleep;
}

/** Connections at once; calls beyond wait for one. */
const maxSockets = 32;

const defaultTimeoutMs = 60_000;
const connectTimeoutMs = 10_000;

/**
 * Carries calls to a service over HTTP: paced, repeated where that is safe, decoded by the contract.
 * @throws ServiceError `invalidParams` when the address is none
 */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  const { clock, random = Math.random, sleep = sleepByTimer } = options;
  const base = readBaseUrl(options.baseUrl);
  const limits: RetryLimits = {
    maxAttempts: options.maxAttempts ?? defaultRetryLimits.maxAttempts,
    maxRetryMs: options.maxRetryMs ?? defaultRetryLimits.maxRetryMs,
  };
  const pacer = new Pacer({ ratePerSecond: options.ratePerSecond, clock, sleep, ...options.pace });
  const wire = new Wire(base, options);
  return {
    call: async (operation, input, caller, callOptions = {}) => {
      const endpoint = endpointOf(operation);
      const encoded = encodeCall(endpoint, input, caller);
      const startedAtMs = clock();
      const { maxAttempts = limits.maxAttempts } = callOptions;
      let failures = 0;
      for (let attempt = 1; ; attempt += 1) {
        await pacer.acquire(callOptions);
        callOptions.onEvent?.({ type: "attempt", attempt });
        try {
          const found = await sendOnce({ wire, pacer, clock }, { endpoint, encoded, caller }, callOptions);
          return found as OutputOf<typeof operation>;
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          if (error.kind !== "tooManyRequests") failures += 1;
          const { effect } = endpoint;
          const spentMs = clock() - startedAtMs;
          const failed = { error, effect, attempt: Math.max(1, failures), spentMs, random };
          const retry = planRetry(failed, { ...limits, maxAttempts });
          if (!retry) throw error;
          callOptions.onEvent?.({ type: "wait", ...retry });
          await sleep(retry.ms, callOptions.signal);
        }
      }
    },
    close: async () => wire.close(),
  };
}

interface Prepared {
  readonly endpoint: Endpoint;
  readonly encoded: EncodedCall;
  readonly caller: Caller;
}

/** Sends a request, tells the pacer how the service took it, and reads the answer. */
async function sendOnce(
  { wire, pacer, clock }: { readonly wire: Wire; readonly pacer: Pacer; readonly clock: () => number },
  { endpoint, encoded, caller }: Prepared,
  { signal, onEvent }: CallOptions,
): Promise<unknown> {
  const answer = await wire.send(encoded, endpoint.effect, signal);
  const nowMs = clock();
  const limit = readServiceLimit(answer.headers, nowMs);
  if (limit) {
    const { remaining, resetAtSeconds, resetInMs } = limit;
    onEvent?.({ type: "limit", remaining, resetAtSeconds });
    if (remaining === 0) pacer.hold(resetInMs);
  }
  const path = encoded.target.split("?", 1)[0] ?? "";
  try {
    const value = readAnswer(answer, { endpoint, service: wire.shown, path, utoken: caller.utoken, nowMs });
    pacer.recover();
    return value;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "tooManyRequests") {
      pacer.throttle(Math.max(1_000, error.retryAfterMs ?? 0));
    }
    throw error;
  }
}

/** The connections to one service. */
class Wire {
  readonly shown: string;
  readonly #base: string;
  readonly #client: Got;
  readonly #kept = {
    http: new HttpAgent({ keepAlive: true, maxSockets }),
    https: new HttpsAgent({ keepAlive: true, maxSockets }),
  };
  /**
   * A kept connection may be closed by the service just as a request goes out, and then nobody knows whether it was
   * carried out. A call that must not be done twice has a connection of its own.
   */
  readonly #fresh = { http: new HttpAgent({ maxSockets }), https: new HttpsAgent({ maxSockets }) };

  constructor(
    base: BaseUrl,
    { requestTimeoutMs = defaultTimeoutMs, userAgent = "starpost" }: HttpTransportOptions,
  ) {
    this.shown = base.shown;
    this.#base = base.href;
    this.#client = got.extend({
      retry: { limit: 0 },
      throwHttpErrors: false,
      followRedirect: false,
      timeout: { request: requestTimeoutMs, connect: Math.min(connectTimeoutMs, requestTimeoutMs) },
      headers: { "user-agent": userAgent },
    });
  }

  /** @throws ServiceError `unavailable`, `timeout`, `unexpectedAnswer`; the signal's reason when it is aborted */
  async send(
    { method, target, headers, body }: EncodedCall,
    effect: Effect,
    signal?: AbortSignal,
  ): Promise<Answer> {
    try {
      const {
        statusCode,
        headers: answered,
        body: bytes,
      } = await this.#client(this.#base + target, {
        method,
        headers,
        responseType: "buffer",
        agent: effect === "once" ? this.#fresh : this.#kept,
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      return { status: statusCode, headers: answered, bytes };
    } catch (error) {
      signal?.throwIfAborted();
      throw asServiceError(error, this.shown);
    }
  }

  close(): void {
    for (const agent of [...Object.values(this.#kept), ...Object.values(this.#fresh)]) agent.destroy();
  }
}
