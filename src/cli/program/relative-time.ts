import { usageError } from "../../config/user-error.ts";
import { dayMs } from "../../contract/time.ts";
import { readAge, readTime } from "./flag-values.ts";

/** The start of a range of time, or its end, given the current time. As timestamps in UTC. */
export type RelativeTime = (nowMs: number) => string;

/** The flags of a range of creation times. */
export const timeFlags = {
  since: {
    value: "<time>",
    description: "only from this time on: 7d, 24h, 2w, yesterday, or a date or timestamp (UTC)",
    read: readSince,
  },
  until: { value: "<time>", description: "only up to this time, or the end of this day (UTC)", read: readUntil },
} as const;

/** A range of creation times as the fields of an operation. */
export function toTimeRange(
  { since, until }: { readonly since?: RelativeTime | undefined; readonly until?: RelativeTime | undefined },
  nowMs: number,
): { readonly since_date?: string; readonly until_date?: string } {
  return { ...(since && { since_date: since(nowMs) }), ...(until && { until_date: until(nowMs) }) };
}

const days: Readonly<Record<string, number>> = { today: 0, yesterday: 1 };

/**
 * Reads a point in time: an age such as `7d`, `today`, `yesterday`, a date, or a timestamp. Days begin at 0:00 UTC.
 * @throws UserError `usage`
 */
export function readSince(text: string, flag: string): RelativeTime {
  return readRelative(text, flag, 0);
}

/** Like `readSince`, for the end of a range, which a day is part of. */
export function readUntil(text: string, flag: string): RelativeTime {
  return readRelative(text, flag, dayMs);
}

function readRelative(text: string, flag: string, dayLengthMs: number): RelativeTime {
  const daysAgo = days[text.toLowerCase()];
  if (daysAgo !== undefined) {
    return (nowMs) => toTimestamp(nowMs - (nowMs % dayMs) - daysAgo * dayMs + dayLengthMs);
  }
  if (/^\d+[hdw]$/.test(text)) {
    const ageMs = readAge(text, flag);
    return (nowMs) => toTimestamp(nowMs - ageMs);
  }
  const ms = Date.parse(readGiven(text, flag));
  return () => toTimestamp(/^\d{4}-\d{2}-\d{2}$/.test(text) ? ms + dayLengthMs : ms);
}

function readGiven(text: string, flag: string): string {
  try {
    return readTime(text, flag);
  } catch {
    const examples = "a date or time such as 7d, 24h, 2w, yesterday, 2026-01-31, or 2026-01-31T12:00:00Z";
    throw usageError(`invalid value ${JSON.stringify(text)} for ${flag}: must be ${examples}`);
  }
}

function toTimestamp(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString();
}
