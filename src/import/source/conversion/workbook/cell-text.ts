import type { NumberFormat } from "./number-formats.ts";

const dayMs = 86_400_000;
/** The last day that a spreadsheet program shows, 9999-12-31. */
const lastDay = 2_958_465;
/** Spreadsheet programs keep this many digits of a number. */
const keptDigits = 15;

/**
 * The text of a number as a CSV export would have it, but with all digits: dates year first, IDs without exponent.
 * A number of more digits than a spreadsheet program keeps has an exponent, which the import rejects in an ID.
 * @param raw as the file contains it, such as `19.989999999999998` for 19.99
 */
export function formatNumber(raw: string, format: NumberFormat | undefined, is1904: boolean): string {
  const value = Number(raw);
  if (raw === "" || !Number.isFinite(value)) return raw;
  if (format?.type === "date") return formatDate(value, format, is1904) ?? formatPlain(raw, value);
  const plain = formatPlain(raw, value);
  return format?.type === "padded" && /^\d+$/.test(plain) ? plain.padStart(format.digits, "0") : plain;
}

function formatPlain(raw: string, value: number): string {
  if (/^-?\d+$/.test(raw)) return isExact(raw, value) ? raw : formatExponent(value);
  if (Math.abs(value) >= 10 ** keptDigits) return formatExponent(value);
  // Binary fractions have more digits than were typed.
  const rounded = Number(value.toPrecision(keptDigits));
  if (!String(rounded).includes("e")) return String(rounded);
  const fixed = rounded.toFixed(20);
  return Number(fixed) === 0 ? "0" : fixed.replace(/(?<!0)0+$/, "");
}

/**
 * Whether an integer has all its digits. Of 16 or more, a spreadsheet program replaces those after the 15th with zeros;
 * other programs write integers as they are, or as double-precision numbers.
 */
function isExact(raw: string, value: number): boolean {
  const digits = raw.replace("-", "").replace(/^0+/, "");
  if (digits.length <= keptDigits) return true;
  if (/^0*$/.test(digits.slice(keptDigits))) return false;
  return Number.isSafeInteger(value) || BigInt(value) !== BigInt(raw);
}

function formatExponent(value: number): string {
  const [digits = "", exponent = ""] = value.toExponential(keptDigits - 1).split("e");
  return `${Number(digits)}E${exponent}`;
}

/** A date, a time, or both, as the cell's format shows it; undefined for a number that is not a date. */
function formatDate(
  serial: number,
  { hasDate, hasTime }: Extract<NumberFormat, { type: "date" }>,
  is1904: boolean,
): string | undefined {
  if (serial < 0 || serial >= lastDay + 1) return undefined;
  const seconds = Math.round((serial * dayMs) / 1000);
  const days = Math.floor(seconds / 86_400);
  const parts = [Math.floor((seconds % 86_400) / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const time = parts.map((part) => String(part).padStart(2, "0")).join(":");
  if (!hasDate) return time;
  const date = formatDay(days, is1904);
  if (date === undefined) return days === 0 && hasTime ? time : undefined;
  return hasTime && seconds % 86_400 !== 0 ? `${date} ${time}` : date;
}

/** Day 60 is 1900-02-29, which did not exist: 1900 counts as a leap year. Source: ECMA-376 part 1, 18.17.4.1. */
function formatDay(days: number, is1904: boolean): string | undefined {
  if (!is1904 && (days === 0 || days === 60)) return undefined;
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  return new Date(first + days * dayMs).toISOString().slice(0, 10);
}

/** A date that the file contains as a text, in ISO 8601. */
export function formatIsoDate(raw: string): string {
  return raw.replace(/T00:00:00(?:\.0+)?Z?$/, "").replace("T", " ");
}

/** Resolves the escapes of characters that XML cannot contain, such as `_x000D_`. */
export function unescapeText(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
