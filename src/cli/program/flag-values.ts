import { invalidValue, type UserError, usageError } from "../../config/user-error.ts";
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

function parseValue(name: string, flag: Flag, value: unknown): unknown {
  const { read = flag.value === undefined ? undefined : readText } = flag;
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

/**
 * Makes the function that reads a value.
 * @param wanted completes "must be"
 * @param parse returns undefined for an invalid value
 */
function reader<T>(wanted: string, parse: (text: string) => T | undefined) {
  return (text: string, flag: string): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    throw invalidValue(text, flag, wanted);
  };
}

function numberFrom(text: string, pattern: RegExp, min: number, max = Number.POSITIVE_INFINITY): number | undefined {
  const value = pattern.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

/** The flag for the length of a list. */
export const limitFlag = {
  value: "<n>",
  description: "maximum number of results (default: all)",
  read: (text: string, flag: string) => readWholeNumber(text, flag),
} as const;

/** The number of results that some tables show by default. Other formats contain all of them. */
export const shownInTable = 20;

/** The same for lists of which a table shows only the beginning. */
export const tableLimitFlag = {
  ...limitFlag,
  description: `maximum number of results (default: ${shownInTable} in a table, otherwise all)`,
} as const;

const digits = /^\d{1,15}$/;

/** An integer from `min` to `max`. */
export const integerFrom = (min: number, max: number) =>
  reader(`an integer from ${min} to ${max}`, (text) => numberFrom(text, digits, min, max));

export const readWholeNumber = reader("an integer of at least 1", (text) => numberFrom(text, digits, 1));

export const readCount = reader("a non-negative integer", (text) => numberFrom(text, digits, 0));

const hoursOf = { h: 1, d: 24, w: 7 * 24 } as const;

/** A duration in hours, days, or weeks, as milliseconds. */
export const readAge = reader("a duration such as 12h, 30d, or 4w", (text) => {
  const [, number, unit = ""] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * hoursOf[unit as keyof typeof hoursOf] * hourMs;
});

/** Calls per second; 0 disables pacing. */
export const readRate = reader("a number of calls per second, or 0 for no pacing", (text) =>
  numberFrom(text, /^\d{1,9}(?:\.\d{1,9})?$/, 0),
);

const hourlyOf = { hour: 1, minute: 60, second: 3_600 } as const;

/** Emails per hour, minute, or second, as emails per hour. */
export const readEmailRate = reader("a rate such as 500/hour, 20/minute, or 5/second", (text) => {
  const [, number, unit = ""] = /^([1-9]\d{0,6})\/(hour|minute|second)$/.exec(text.trim()) ?? [];
  return number === undefined ? undefined : Number(number) * hourlyOf[unit as keyof typeof hourlyOf];
});

function percentFrom(text: string): number | undefined {
  return numberFrom(/^(.*)%$/.exec(text)?.[1] ?? "", /^\d{1,3}(?:\.\d{1,9})?$/, 0, 100);
}

export const readMaxErrors = reader(
  "a number of rows or a percentage, such as 20 or 5%",
  (text): { count: number } | { percent: number } | undefined => {
    const [count, percent] = [numberFrom(text, digits, 0), percentFrom(text)];
    return count === undefined ? (percent === undefined ? undefined : { percent }) : { count };
  },
);

/** `field=column`; the column name may contain `=`. */
export const readMapping = readPairAs("field=column");

/** `field=value`; the value may contain `=`. */
export const readSetting = readPairAs("field=value");

function readPairAs(form: string) {
  return reader(`in the form ${form}`, (text): readonly [string, string] | undefined => {
    const at = text.indexOf("=");
    const [field, value] = [text.slice(0, at).trim(), text.slice(at + 1)];
    return at > 0 && field !== "" && value !== "" ? [field, value] : undefined;
  });
}

/** A percentage above 0%, as a number from 0 to 1. */
export const readShare = reader(
  "a percentage of the rate, such as 60%",
  (text) => (percentFrom(text) || 0) / 100 || undefined,
);

/** One character, or `tab`. */
export const readDelimiter = reader("one character, or `tab`", (text) => {
  if (text === "tab" || text === String.raw`\t`) return "\t";
  return text.length === 1 && !/["\r\n\0]/.test(text) ? text : undefined;
});

export const readPort = reader("a port from 0 to 65535", (text) => numberFrom(text, /^\d{1,5}$/, 0, 65_535));

/** A size in MB or GB (1,024 MB), as bytes. */
export const readSize = reader("a size from 1MB to 99999GB, such as 500MB or 20GB", (text) => {
  const [, number = "", unit = ""] = /^([1-9]\d{0,4})\s?([MG])B$/i.exec(text.trim()) ?? [];
  return number === "" ? undefined : Number(number) * 1_024 ** (unit.toUpperCase() === "M" ? 2 : 3);
});

/** The delay of bottom lines in seconds, as milliseconds. */
export const readDelay = (text: string, flag: string): number => {
  const maxSeconds = bottomLinesDelay.maxMs / 1_000;
  const wanted = `an integer of seconds from 0 to ${maxSeconds}`;
  return reader(wanted, () => numberFrom(text, /^\d{1,5}$/, 0, maxSeconds))(text, flag) * 1_000;
};

/** From 5 seconds to an hour, as milliseconds. */
export const readLease = (text: string, flag: string): number => integerFrom(5, 3_600)(text, flag) * 1_000;

/** A date, YYYY-MM-DD. */
export const readDay = reader("a date such as 2026-08-15, or an age such as 7d", (text) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text) ? text : undefined,
);

/** Date.parse moves days that a month lacks to the next month. */
function isDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** A date, or an ISO 8601 timestamp. */
export const readTime = reader("a date or timestamp such as 2026-08-15 or 2026-08-15T12:00:00Z", (text) => {
  const day = /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}\S*)?$/i.exec(text)?.[1];
  const isTime = !Number.isNaN(Date.parse(text.replace(",", ".")));
  return day !== undefined && isTime && isDay(day) ? text : undefined;
});

const readText = reader("non-empty", (text) => (text.trim() === "" ? undefined : text));

/** Checks the form of an email address; the service checks the rest. */
export const readEmail = reader("an email address", (text) =>
  /^[^\s@]+@[^\s@]+$/.test(text.trim()) ? text : undefined,
);

/** Text with at least one word. */
export const readWords = reader("words of letters or digits", (text) =>
  /[\p{L}\p{N}]/u.test(text) ? text : undefined,
);

/** `dmy`, or a pattern with the same order, such as `DD/MM/YYYY`. */
export function readDateFormat(text: string, flag: string): DateFormat {
  const order = text
    .toLowerCase()
    .replace(/[^a-z]/g, "")
    .replaceAll(/(.)\1+/g, "$1");
  return readOneOf(dateFormats.includes(order as DateFormat) ? order : text, dateFormats, flag);
}

/** Words separated by commas, in lowercase, each once. */
export const readList = reader("different names separated by commas", (text): readonly string[] | undefined => {
  const words = text.split(",").map((word) => word.trim().toLowerCase());
  return !words.includes("") && new Set(words).size === words.length ? words : undefined;
});
