import { invalidValue, usageError } from "../../config/user-error.ts";
import { dayMs } from "../../contract/time.ts";
import { readAge, readDay, readTime } from "./flag-values.ts";

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

/**
 * A range of creation times as the fields of an operation.
 * @throws UserError `usage` if it ends before it starts
 */
export function toTimeRange(
  range: { readonly since?: RelativeTime | undefined; readonly until?: RelativeTime | undefined },
  nowMs: number,
): { readonly since_date?: string; readonly until_date?: string } {
  const [since, until] = [range.since?.(nowMs), range.until?.(nowMs)];
  if (since !== undefined && until !== undefined && since > until) {
    throw usageError(`--until (${until}) is before --since (${since})`, "--since is the start of the range.");
  }
  return { ...(since !== undefined && { since_date: since }), ...(until !== undefined && { until_date: until }) };
}

/** Replaces relative times with the times that they stand for. */
export function resolveTimes(values: Readonly<Record<string, unknown>>, nowMs: number): Record<string, unknown> {
  const resolve = (value: unknown) => (typeof value === "function" ? (value as RelativeTime)(nowMs) : value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, resolve(value)]));
}

const agePattern = /^\d+[hdw]$/;

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

/**
 * Reads a day (UTC): an age such as `7d`, `today`, `yesterday`, or a date.
 * @throws UserError `usage`
 */
export function readRelativeDay(text: string, flag: string): RelativeTime {
  const isRelative = Object.hasOwn(days, text.toLowerCase()) || agePattern.test(text);
  const day = isRelative ? readSince(text, flag) : () => readDay(text, flag);
  day(0);
  return (nowMs) => day(nowMs).slice(0, "2026-01-31".length);
}

function readRelative(text: string, flag: string, dayLengthMs: number): RelativeTime {
  const daysAgo = days[text.toLowerCase()];
  if (daysAgo !== undefined) {
    return (nowMs) => toTimestamp(nowMs - (nowMs % dayMs) - daysAgo * dayMs + dayLengthMs);
  }
  if (agePattern.test(text)) {
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
    throw invalidValue(text, flag, examples);
  }
}

function toTimestamp(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString();
}
