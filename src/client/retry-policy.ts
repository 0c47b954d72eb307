import type { Effect, ServiceError } from "../contract/index.ts";
import { formatSeconds } from "./sleep.ts";

export interface RetryLimits {
  /** Tries of one call, the first included; those that were only refused as too many do not count. */
  readonly maxAttempts: number;
  /** No try starts later than this after the first, in milliseconds. */
  readonly maxRetryMs: number;
}

export const defaultRetryLimits: RetryLimits = { maxAttempts: 6, maxRetryMs: 120_000 };

/** A failed try, and what was spent on the call so far. */
export interface FailedTry {
  readonly error: ServiceError;
  readonly effect: Effect;
  /** Number of the try that failed, from 1, without those that were refused as too many before it. */
  readonly attempt: number;
  /** Milliseconds since the first try started. */
  readonly spentMs: number;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
}

export interface PlannedRetry {
  readonly reason: "throttled" | "retry";
  readonly ms: number;
  readonly message: string;
}

/** Full jitter: anything from nearly nothing up to a bound that doubles with each try. */
const backoff = { firstMs: 500, mostMs: 20_000, leastMs: 50 } as const;

/** After a 429, at least this. Source: spec "Limits": a fixed second is sufficient. */
const leastAfter429Ms = 1_000;

/** Spreads calls that were refused together. */
const spreadAfter429Ms = 250;

/**
 * Whether a failed call may be sent again at all.
 * A call that may have been carried out is sent again only where doing it twice is the same as doing it once.
 */
export function mayRepeat(error: ServiceError, effect: Effect): boolean {
  return error.temporary && !(error.outcomeUnknown && effect === "once");
}

/** Decides whether and when a failed try is followed by another. */
export function planRetry(failed: FailedTry, limits: RetryLimits): PlannedRetry | undefined {
  const { error, effect, attempt, spentMs } = failed;
  const isThrottled = error.kind === "tooManyRequests";
  // A service that says when to come again is up: time alone is what such a call can run out of.
  if ((attempt >= limits.maxAttempts && !isThrottled) || !mayRepeat(error, effect)) return undefined;
  const ms = delayMs(failed);
  if (spentMs + ms > limits.maxRetryMs) return undefined;
  const what = isThrottled ? "the service answers 429" : error.message;
  return {
    reason: isThrottled ? "throttled" : "retry",
    ms,
    message: `${what}; next try in ${formatSeconds(ms)}`,
  };
}

function delayMs({ error, attempt, random }: FailedTry): number {
  const asked = error.retryAfterMs ?? 0;
  if (error.kind === "tooManyRequests") {
    return Math.ceil(Math.max(asked, leastAfter429Ms) + random() * spreadAfter429Ms);
  }
  const bound = Math.min(backoff.mostMs, backoff.firstMs * 2 ** (attempt - 1));
  return Math.ceil(Math.max(asked, backoff.leastMs, random() * bound));
}
