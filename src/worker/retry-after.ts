/** How long `Retry-After` asks to wait: seconds, or a date of HTTP; nothing where it says neither. */
export function readRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Other texts that can be read as a date, such as a bare year, are none of HTTP's.
  const atMs = /^[A-Z][a-z]{2}.*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
