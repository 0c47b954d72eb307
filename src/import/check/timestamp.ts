import { isCalendarDate } from "../../contract/index.ts";
import { readDate } from "./date.ts";

const pattern =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d{1,9})?)?\s*(?:(Z|UTC|GMT)|([+-]\d{2}):?(\d{2}))?$/i;

/**
 * The time of a date as other services export it: ISO 8601, or a day alone, which is its beginning in UTC.
 * Assumed: a time without an offset is UTC; of a time in another form the day is taken, as it is written.
 * @returns YYYY-MM-DDTHH:MM:SS.sssZ, or nothing where it is not a day of the calendar
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
