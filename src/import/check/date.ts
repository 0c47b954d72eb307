import { isCalendarDate } from "../../contract/index.ts";
import type { RowError, RowView } from "../item.ts";

const pattern =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:(?:[T ]| at )\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[AaPp][Mm])?(?:\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?)?$/;

/**
 * Reads the day of a date as shops export it: year first; a time and an offset are ignored, so the day is the one
 * written.
 * @returns YYYY-MM-DD, or undefined if it is not a calendar day
 */
export function readDate(value: string): string | undefined {
  if (value.length === 10 && isCalendarDate(value)) return value;
  const parts = pattern.exec(value);
  if (!parts) return undefined;
  const date = `${parts[1]}-${parts[2]?.padStart(2, "0")}-${parts[3]?.padStart(2, "0")}`;
  return isCalendarDate(date) ? date : undefined;
}

const timestampPattern =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d{1,9})?)?\s*(?:(Z|UTC|GMT)|([+-]\d{2}):?(\d{2}))?$/i;

/**
 * Reads a timestamp as other services export it: ISO 8601, or a day alone, which means its start in UTC.
 * Assumed: a time without an offset is UTC; of a time in another format, only the day is used, as written.
 * @returns YYYY-MM-DDTHH:MM:SS.sssZ, or undefined if it is not a calendar day
 */
export function readTime(value: string): string | undefined {
  const parts = timestampPattern.exec(value);
  if (parts) {
    const [, day = "", minutes = "", seconds = ":00", , hoursOff, minutesOff = "00"] = parts;
    if (!isCalendarDate(day)) return undefined;
    const offset = hoursOff === undefined ? "Z" : `${hoursOff}:${minutesOff}`;
    const ms = Date.parse(`${day}T${minutes}${seconds.replace(",", ".")}${offset}`);
    return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
  }
  const day = readDate(value);
  return day === undefined ? undefined : `${day}T00:00:00.000Z`;
}

const trueValues: ReadonlySet<string> = new Set(["true", "yes", "y", "1"]);
const falseValues: ReadonlySet<string> = new Set(["false", "no", "n", "0"]);

/** Reads a boolean as files write it. An empty cell is undefined; so is an invalid one, which adds an error. */
export function readBoolean(row: RowView, field: string, problems: RowError[]): boolean | undefined {
  const value = row(field);
  if (value === "") return undefined;
  const written = value.toLowerCase();
  if (trueValues.has(written)) return true;
  if (falseValues.has(written)) return false;
  problems.push({ field, code: "bad_boolean", reason: "is neither true nor false" });
  return undefined;
}
