/** Units of time, in milliseconds. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Longer delays count as this one, so that the time of the next attempt can be formatted. */
const maxRetryAfterMs = 36_525 * dayMs;

/**
 * Parses a `Retry-After` header: seconds, or a date with a time.
 * @returns whole milliseconds from `nowMs`, or undefined if the header is missing or invalid
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(maxRetryAfterMs, Math.ceil(Number(text) * 1_000));
  // `Date.parse` also accepts texts without a time, such as a year.
  const atMs = /\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.min(maxRetryAfterMs, Math.max(0, atMs - nowMs));
}

/** The latest time that a clock may show: later dates, such as expirations, must have four-digit years, too. */
const maxClockMs = Date.UTC(9900, 0);

/** Whether the time of a clock, in milliseconds since the epoch, can be stored and formatted: from 1970 to 9899. */
export function isClockTime(ms: number): boolean {
  return Number.isInteger(ms) && ms >= 0 && ms < maxClockMs;
}
