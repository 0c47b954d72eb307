import { dayMs, hourMs, minuteMs } from "../../contract/time.ts";

/**
 * Delay after each failed attempt: ten attempts over slightly more than three days.
 * Source: Standard Webhooks, whose example covers two days.
 */
export const retryDelaysMs: readonly number[] = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** Maximum delay that a receiver can request with `Retry-After`. */
const maxRetryAfterMs = dayMs;

/** Maximum random extension of a delay, as a fraction. Spreads retries of deliveries that failed together. */
const jitter = 0.2;

/**
 * Returns the delay after a failed attempt, or undefined if it was the last.
 * @param attempt number of the attempt in its series, starting at 1
 * @param random at least 0 and less than 1
 * Assumed: `Retry-After` can extend a delay, up to a day, but not shorten it.
 */
export function planRetryMs(attempt: number, retryAfterMs: number, random: number): number | undefined {
  const delayMs = retryDelaysMs[attempt - 1];
  if (delayMs === undefined) return undefined;
  return Math.max(Math.ceil(delayMs * (1 + jitter * random)), limitRetryAfterMs(retryAfterMs));
}

/** Limits the delay that a receiver requested. */
export function limitRetryAfterMs(retryAfterMs: number): number {
  return Math.min(retryAfterMs, maxRetryAfterMs);
}
