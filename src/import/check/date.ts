import { isCalendarDate } from "../../contract/index.ts";

const pattern =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:(?:[T ]| at )\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp][Mm])?\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?$/;

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
