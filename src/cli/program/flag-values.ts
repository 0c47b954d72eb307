import { type UserError, usageError } from "../../config/user-error.ts";
import { type Flag, type Flags, type FlagValues, isRequired } from "./flag.ts";
import { bottomLinesDelay } from "../../contract/reviews/bottom-lines-delay.ts";
import { type DateFormat, dateFormats } from "../../import/options.ts";
import { emailTypeNames, readEmailTypeId } from "../../contract/emails/type-names.ts";
import { hourMs } from "../../contract/time.ts";

/**
 * Parses the flags that were set, and applies defaults.
 * @param parsed by the parser's names: `batchSize`, and `validate: false` for `--no-validate`
 * @throws UserError `usage` if a required flag is missing, exclusive flags are combined, or a value is invalid
 */
export function readFlagValues(flags: Flags, parsed: Readonly<Record<string, unknown>>): FlagValues<Flags> {
  const entries = Object.entries(flags).map(([name, flag]) => [name, flag, findParsed(name, parsed)] as const);
  const names = new Set(entries.flatMap(([name, , value]) => (value === undefined ? [] : [name])));
  // `--no-x` also sets x, to false.
  checkExclusive(flags, new Set([...names].filter((name) => findParsed(name, parsed) !== false)));
  checkRequired(flags, names);
  const values = entries.map(([name, flag, value]) => [name, parseValue(name, flag, value ?? flag.default)]);
  return Object.fromEntries(values) as FlagValues<Flags>;
}

function findParsed(name: string, parsed: Readonly<Record<string, unknown>>): unknown {
  const value = parsed[toParserName(name)];
  if (!name.startsWith("no-")) return value;
  return value === false ? true : undefined;
}

function parseValue(name: string, { read }: Flag, value: unknown): unknown {
  if (!read || value === undefined) return value;
  const readOne = (text: unknown) => read(String(text), `--${name}`);
  return Array.isArray(value) ? value.map(readOne) : readOne(value);
}

function checkExclusive(flags: Flags, names: ReadonlySet<string>): void {
  for (const [name, { exclusive = [] }] of Object.entries(flags)) {
    const other = exclusive.find((found) => names.has(found));
    if (other !== undefined && names.has(name)) throw exclusiveFlags(name, other);
  }
}

/** The error for flags that cannot be combined. */
export function exclusiveFlags(name: string, other: string): UserError {
  return usageError(`flags --${name} and --${other} cannot be used together`, "Remove one of them.");
}

function checkRequired(flags: Flags, names: ReadonlySet<string>): void {
  const missing = Object.entries(flags).filter(
    ([name, flag]) =>
      isRequired(flag) && !names.has(name) && !(flag.requiredUnless !== undefined && names.has(flag.requiredUnless)),
  );
  if (missing.length === 0) return;
  const list = missing.map(([name]) => `--${name}`).join(", ");
  const choices = missing.flatMap(([name, { values }]) =>
    Array.isArray(values) ? [`--${name} is one of: ${values.join(", ")}.`] : [],
  );
  const fallback = missing.find(([, flag]) => flag.requiredUnless !== undefined)?.[1].requiredUnless;
  const hints = fallback === undefined ? choices : [...choices, `Or pass all fields as JSON: --${fallback} <file>.`];
  throw usageError(
    `required ${missing.length === 1 ? "flag" : "flags"} ${list} not set`,
    hints.length > 0 ? hints.join(" ") : undefined,
  );
}

function toParserName(name: string): string {
  return name.replace(/^no-/, "").replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Checks that the value of a flag or an argument is one of a list.
 * @param read reads a value in any notation, if the list does not contain all of them
 */
export function readOneOf<const T extends string>(
  text: string,
  allowed: readonly T[],
  flag: string,
  read = (value: string): T | undefined => allowed.find((one) => one === value),
): T {
  const found = read(text);
  if (found !== undefined) return found;
  const message = `invalid value ${JSON.stringify(text)} for ${flag}`;
  throw usageError(message, `Use one of: ${allowed.join(", ")}.`, undefined, { given: text, known: allowed });
}

/** The part of a flag that accepts one of a list of values. */
export function oneOf<const T extends string>(values: readonly T[], readValue?: (text: string) => T | undefined) {
  return { values, read: (text: string, flag: string) => readOneOf(text, values, flag, readValue) };
}

/** A flag that accepts a comma-separated list of states. */
export function stateFlag<const T extends string>(states: readonly T[]) {
  return {
    value: "<states>",
    description: `only these states, separated by commas: ${states.join(", ")}`,
    values: states,
    read: (text: string, flag: string) => text.split(",").map((state) => readOneOf(state.trim(), states, flag)),
  };
}

/** The part of a flag that accepts an email type, by name or number, and returns its ID. */
export const emailType = oneOf<string>(Object.values(emailTypeNames), readEmailTypeId);

/** An integer of at least 1. */
export function readWholeNumber(text: string, flag: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw wrong(flag, text, "an integer of at least 1");
}

/** A non-negative integer. */
export function readCount(text: string, flag: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw wrong(flag, text, "a non-negative integer");
}

const hoursOf = { h: 1, d: 24, w: 7 * 24 } as const;

/** A duration in hours, days, or weeks, as milliseconds. */
export function readAge(text: string, flag: string): number {
  const [, number, unit = ""] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (number !== undefined) return Number(number) * hoursOf[unit as keyof typeof hoursOf] * hourMs;
  throw wrong(flag, text, "a duration such as 12h, 30d, or 4w");
}

/** Calls per second; 0 disables pacing. */
export function readRate(text: string, flag: string): number {
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text);
  throw wrong(flag, text, "a number of calls per second, or 0 for no pacing");
}

export function readMaxErrors(text: string, flag: string): { count: number } | { percent: number } {
  if (/^\d{1,15}$/.test(text)) return { count: Number(text) };
  const percent = /^(\d{1,3}(?:\.\d{1,9})?)%$/.exec(text)?.[1];
  if (percent !== undefined && Number(percent) <= 100) return { percent: Number(percent) };
  throw wrong(flag, text, "a number of rows or a percentage, such as 20 or 5%");
}

/** `field=column`; the column name may contain `=`. */
export const readMapping = readPairAs("field=column");

/** `field=value`; the value may contain `=`. */
export const readSetting = readPairAs("field=value");

function readPairAs(form: string) {
  return (text: string, flag: string): readonly [string, string] => {
    const at = text.indexOf("=");
    const [field, value] = [text.slice(0, at).trim(), text.slice(at + 1)];
    if (at > 0 && field !== "" && value !== "") return [field, value];
    throw wrong(flag, text, `in the form ${form}`);
  };
}

/** A percentage above 0%, as a number from 0 to 1. */
export function readShare(text: string, flag: string): number {
  const percent = Number(/^(\d{1,3}(?:\.\d{1,9})?)%$/.exec(text)?.[1] ?? 0);
  if (percent > 0 && percent <= 100) return percent / 100;
  throw wrong(flag, text, "a percentage of the rate, such as 60%");
}

/** One character, or `tab`. */
export function readDelimiter(text: string, flag: string): string {
  if (text === "tab" || text === String.raw`\t`) return "\t";
  if (text.length === 1 && !/["\r\n\0]/.test(text)) return text;
  throw wrong(flag, text, "one character, or `tab`");
}

export function readPort(text: string, flag: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw wrong(flag, text, "a port from 0 to 65535");
}

/** The delay of bottom lines in seconds, as milliseconds. */
export function readDelay(text: string, flag: string): number {
  const delayMs = /^\d{1,5}$/.test(text) ? Number(text) * 1_000 : Number.NaN;
  if (delayMs <= bottomLinesDelay.maxMs) return delayMs;
  throw wrong(flag, text, `an integer of seconds from 0 to ${bottomLinesDelay.maxMs / 1_000}`);
}

/** From 5 seconds to an hour, as milliseconds. */
export function readLease(text: string, flag: string): number {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds >= 5 && seconds <= 3_600) return seconds * 1_000;
  throw wrong(flag, text, "an integer from 5 to 3600");
}

/** A date, YYYY-MM-DD. */
export function readDay(text: string, flag: string): string {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse moves days that a month lacks to the next month.
  if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)) return text;
  throw wrong(flag, text, "a date such as 2026-08-15, or an age such as 7d");
}

/** A date, or an ISO 8601 timestamp. */
export function readTime(text: string, flag: string): string {
  const day = /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}\S*)?$/i.exec(text)?.[1];
  const ms = Date.parse(text.replace(",", "."));
  if (day !== undefined && !Number.isNaN(ms) && new Date(Date.parse(day)).toISOString().startsWith(day)) return text;
  throw wrong(flag, text, "a date or timestamp such as 2026-08-15 or 2026-08-15T12:00:00Z");
}

/** A non-empty text. */
export function readText(text: string, flag: string): string {
  if (text.trim() !== "") return text;
  throw wrong(flag, text, "non-empty");
}

/** Checks the form of an email address; the service checks the rest. */
export function readEmail(text: string, flag: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(text.trim())) return text;
  throw wrong(flag, text, "an email address");
}

/** Text with at least one word. */
export function readWords(text: string, flag: string): string {
  if (/[\p{L}\p{N}]/u.test(text)) return text;
  throw wrong(flag, text, "words of letters or digits");
}

/** `dmy`, or a pattern with the same order, such as `DD/MM/YYYY`. */
export function readDateFormat(text: string, flag: string): DateFormat {
  const order = text
    .toLowerCase()
    .replace(/[^a-z]/g, "")
    .replaceAll(/(.)\1+/g, "$1");
  return readOneOf(dateFormats.includes(order as DateFormat) ? order : text, dateFormats, flag);
}

/** Words separated by commas, in lowercase, each once. */
export function readList(text: string, flag: string): readonly string[] {
  const words = text.split(",").map((word) => word.trim().toLowerCase());
  if (!words.includes("") && new Set(words).size === words.length) return words;
  throw wrong(flag, text, "different names separated by commas");
}

function wrong(flag: string, text: string, wanted: string): UserError {
  return usageError(`invalid value ${JSON.stringify(text)} for ${flag}: must be ${wanted}`);
}
