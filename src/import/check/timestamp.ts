import { isCalendarDate } from "../../contract/index.ts";
import { readDate } from "./date.ts";

const pattern =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d{1,9})?)?\s*(?:(Z|UTC|GMT)|([+-]\d{2}):?(\d{2}))?$/i;

/**
 * Reads a timestamp as other services export it: ISO 8601, or a day alone, which means its start in UTC.
 * Assumed: a time without an offset is UTC; of a time in another format, only the day is used, as written.
 * @returns YYYY-MM-DDTHH:MM:SS.sssZ, or undefined if it is not a calendar day
 */
export function readTime(value: string): string | undefined {
  const parts = pattern.exec(value);
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
