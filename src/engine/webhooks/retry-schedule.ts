import { dayMs, hourMs, minuteMs } from "../../contract/time.ts";

/**
 * How long after each attempt that failed the next one comes, milliseconds: ten attempts over a little more than three
 * days. Source: Standard Webhooks, whose example goes on for two.
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

/** What a receiver can ask for with `Retry-After` at most. */
const mostAskedMs = dayMs;

/** Spreads what failed together: each wait is longer by up to this part of it. */
const jitter = 0.2;

/**
 * How long to wait after an attempt that failed; nothing where it was the last.
 * @param attempt number of the attempt in its series, from 1
 * @param random from 0 up to, and without, 1
 * Assumed: `Retry-After` makes a wait longer, up to a day, and never shorter.
 */
export function planRetryMs(attempt: number, askedMs: number, random: number): number | undefined {
  const delayMs = retryDelaysMs[attempt - 1];
  if (delayMs === undefined) return undefined;
  return Math.max(Math.ceil(delayMs * (1 + jitter * random)), limitRetryAfterMs(askedMs));
}

/** How long a receiver is left alone that asked for it. */
export function limitRetryAfterMs(askedMs: number): number {
  return Math.min(askedMs, mostAskedMs);
}
