/** Units of time, in milliseconds. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/**
 * Parses a `Retry-After` header: seconds, or an HTTP date.
 * @returns milliseconds from `nowMs`, or undefined if the header is missing or invalid
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  // `Date.parse` also accepts texts that are not HTTP dates, such as a year.
  const atMs = /^[A-Z][a-z]{2}.*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
