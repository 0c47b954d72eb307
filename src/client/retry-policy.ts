import type { Effect, ServiceError } from "../contract/index.ts";
import { formatWait } from "./sleep.ts";

export interface RetryLimits {
  /** Maximum number of attempts of a call, not counting those refused with status 429. */
  readonly maxAttempts: number;
  /** No attempt starts later than this after the first, in milliseconds. */
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
  if (spentMs + ms > limits.maxRetryMs) return undefined;
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
