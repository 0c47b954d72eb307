import * as z from "zod";
import { languages } from "./brand/brand.ts";
import { matchLanguage } from "./brand/language-match.ts";
import { hasHiddenCharacters, isEmail, isPlainEmail } from "./email-address.ts";
import { maxEmailLength } from "./storefront/limits.ts";
import { lazily, lazyValues } from "./lazily.ts";

/** Maximum lengths, in characters. Assumed: the specification states none; longer values are rejected, never truncated. */
export const maxLength = {
  id: 255,
  name: 1_024,
  email: maxEmailLength,
  url: 2_048,
  /** A review, a question, an answer, or a comment. Services of this kind accept 5,000 to 10,000 characters. */
  content: 10_000,
  description: 65_535,
  /** A description that is sent without a token: the body is smaller. */
  publicDescription: 10_000,
  tags: 4_096,
  spec: 255,
} as const;

/** An error in one field of one element, as sent on the wire. */
export interface FieldError {
  readonly field: string;
  readonly error: string;
}

/**
 * A stable code for an invalid value; scripts and reject files rely on it.
 * The importer adds codes for errors that only occur in files.
 */
export type CheckCode =
  | "missing"
  | "too_long"
  | "bad_type"
  | "bad_characters"
  | "bad_id"
  | "bad_email"
  | "bad_url"
  | "bad_date"
  | "bad_price"
  | "bad_currency"
  | "bad_boolean"
  | "bad_platform";

const isMissing = "is missing";

const typeNames: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "an integer",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string",
};

/** Messages for schemas that define none themselves; Zod's defaults are written for programmers. */
z.config({
  customError: (issue) => {
    if (issue.input === undefined) return isMissing;
    if (issue.code === "invalid_type") return `must be ${typeNames[issue.expected] ?? issue.expected}`;
    if (issue.code === "too_big" && issue.origin === "array") return `has more than ${issue.maximum} elements`;
    if (issue.code === "too_big" && issue.origin === "string") return `is longer than ${issue.maximum} characters`;
    return undefined;
  },
});

const idPattern = /^[A-Za-z0-9_-]+$/;
// Each character can match in only one way, so that long values without a match cannot cause excessive backtracking.
const urlPattern = /^https?:\/\/[^\s/?#]\S*$/i;
// Host names that every URL parser accepts, which is most of them: faster than parsing.
const plainUrlPattern = /^https?:\/\/(?!xn--)[a-z0-9]+(?:\.(?!xn--)[a-z0-9-]+)*\.[a-z]{2,63}(?:\/[!-~]*)?$/i;

const isUrl = (value: string) => plainUrlPattern.test(value) || (urlPattern.test(value) && URL.canParse(value));
const pricePattern = /^(?:\d+(?:\.\d+)?|\.\d+)$/;
const utcPattern = /^[1-9]\d{3}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const datePattern = /^\d{4}-\d{2}-\d{2}$/;

/** The error of an invalid product ID, SKU, or spec value. */
export const invalidIdText = "allows only letters, digits, _ and -";

/**
 * Whether `value` is a valid product ID, SKU, or spec value: letters, digits, `_`, and `-`. Source: spec "Product (input)".
 * Assumed: `__proto__` is invalid, because many JSON parsers drop keys of that name, and thus the record.
 */
export function isLegalId(value: string): boolean {
  return idPattern.test(value) && value !== "__proto__";
}

/** Whether `value` is an existing date in the format YYYY-MM-DD. */
export function isCalendarDate(value: string): boolean {
  if (!datePattern.test(value)) return false;
  // Without parts of the text, because a large import checks many dates.
  const digits = (at: number) => (value.charCodeAt(at) - 48) * 10 + value.charCodeAt(at + 1) - 48;
  const [year, month, day] = [digits(0) * 100 + digits(2), digits(5), digits(8)];
  if (month < 1 || month > 12 || day < 1) return false;
  // Every month has 28 days.
  if (day <= 28) return true;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= days;
}

const timestampPattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Reads a date (YYYY-MM-DD) or an ISO 8601 timestamp. Assumed: a timestamp without an offset is UTC.
 * @returns the day as written, and the time in milliseconds since the epoch; undefined if the value is invalid
 */
export function parseTimestamp(value: string): { readonly day: string; readonly ms: number } | undefined {
  const [, day = "", time = "00:00", offset = "Z"] = timestampPattern.exec(value) ?? [];
  if (!isCalendarDate(day)) return undefined;
  const ms = Date.parse(`${day}T${time.replace(",", ".")}${offset.toUpperCase()}`);
  return Number.isNaN(ms) ? undefined : { day, ms };
}

/** The error for a value of the wrong type, or a missing one. */
function typeError(message: string) {
  return (issue: { readonly input?: unknown }) => (issue.input === undefined ? isMissing : message);
}

/** The code of an issue: its own, or one derived from Zod's. */
export function codeOfIssue(issue: z.core.$ZodIssue): CheckCode {
  if (issue.message === isMissing) return "missing";
  if (issue.code === "custom" && typeof issue.params?.["code"] === "string") {
    return issue.params["code"] as CheckCode;
  }
  return issue.code === "too_big" ? "too_long" : "bad_type";
}

function checked(base: z.ZodString, code: CheckCode, message: string, isValid: (value: string) => boolean) {
  // A value has one error.
  return base.refine(isValid, { error: message, params: { code }, abort: true });
}

/** Not every database can store unpaired surrogates and U+0000. */
function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes("\u0000");
}

function bounded(max: number, message = "must be a string") {
  return z
    .string({ error: typeError(message) })
    .max(max, { error: `is longer than ${max} characters` })
    .refine(isStorable, {
      error: "contains U+0000 or an unpaired surrogate",
      params: { code: "bad_characters" satisfies CheckCode },
      abort: true,
    });
}

/** Some clients send IDs as numbers, which are converted to strings. */
const looseText = lazily(() =>
  z.union([z.string(), z.number().transform(String)], { error: typeError("must be a string") }),
);

/** Text that is not blank. */
export function required(max: number) {
  return looseText().pipe(checked(bounded(max), "missing", isMissing, (value) => value.trim() !== ""));
}

function timestampText(message: string) {
  return checked(
    z.string({ error: typeError(message) }),
    "bad_date",
    "is not a valid date (YYYY-MM-DD) or timestamp (ISO 8601)",
    // Most values are dates, which are faster to check.
    (value) => isCalendarDate(value) || parseTimestamp(value) !== undefined,
  );
}

/** @param least the value of lower integers, which are otherwise refused */
function integer(message: string, { least }: { readonly least?: number } = {}) {
  const digits = least === undefined ? /^\d{1,16}$/ : /^-?\d{1,16}$/;
  return z
    .union([z.number(), z.string().regex(digits, { error: message }).transform(Number)], { error: typeError(message) })
    .transform((value) => (least === undefined ? value : Math.max(value, least)))
    .pipe(
      z
        .number({ error: message })
        .int({ error: message })
        .min(0, { error: message })
        .max(Number.MAX_SAFE_INTEGER, { error: message }),
    );
}

/** The scalar types of the wire, with their error messages. */
export const shape = lazyValues({
  id: () => required(maxLength.id),
  name: () => required(maxLength.name),
  /** Non-blank text. */
  content: () => required(maxLength.content),
  text: () => bounded(maxLength.description),
  reference: () => looseText().pipe(bounded(maxLength.id)),
  tags: () =>
    z
      .union([z.string(), z.array(z.string()).transform((tags) => tags.join(","))], {
        error: typeError("must be a string or a list of strings"),
      })
      .pipe(bounded(maxLength.tags)),
  /** Compared by `emailKeyOf`; the spelling stays. */
  email: () =>
    checked(
      checked(
        bounded(maxLength.email),
        "bad_characters",
        "contains an invisible character",
        (value) => !hasHiddenCharacters(value),
      ),
      "bad_email",
      "is not a valid email address (local@domain)",
      isEmail,
    ),
  url: () => checked(bounded(maxLength.url), "bad_url", "is not a valid http:// or https:// URL", isUrl),
  /** A URL, or an empty string for none. */
  optionalUrl: () =>
    checked(
      bounded(maxLength.url),
      "bad_url",
      "is not a valid http:// or https:// URL",
      (value) => value === "" || isUrl(value),
    ),
  /** A date, or a timestamp, of which only the day counts, as written: the store's day. */
  date: () => timestampText("must be a date, YYYY-MM-DD").transform((value) => value.slice(0, "YYYY-MM-DD".length)),
  /** A date, which means its start in UTC, or a timestamp. The output is in UTC. */
  time: () =>
    timestampText("must be a timestamp").transform((value) => {
      const ms = parseTimestamp(value)?.ms;
      return ms === undefined ? value : new Date(ms).toISOString();
    }),
  price: () =>
    z
      .union([z.string(), z.number().transform(String)], { error: typeError("must be a number") })
      .pipe(
        checked(
          z.string(),
          "bad_price",
          "is not a valid price (such as 12.50)",
          (value) => value === "" || (pricePattern.test(value) && value.length <= 32),
        ),
      ),
  currency: () =>
    checked(
      bounded(3),
      "bad_currency",
      "is not a three-letter ISO currency code",
      (value) => value === "" || /^[A-Za-z]{3}$/.test(value),
    ).transform((value) => value.toUpperCase()),
  /** A language of emails and pages, or the tag of a similar one, which is normalized. */
  language: () =>
    bounded(maxLength.id)
      .refine((value) => value === "" || matchLanguage(value) !== undefined, {
        error: `is not one of ${languages.join(", ")}`,
        abort: true,
      })
      .transform((value) => matchLanguage(value) ?? value),
  boolean: () =>
    z.union([z.boolean(), z.enum(["true", "false"]).transform((value) => value === "true")], {
      error: typeError("must be true or false"),
    }),
  /** A row ID, as a number or a string of digits. */
  rowId: () => integer("must be an integer ID"),
  /** A non-negative integer, as a number or a string of digits. */
  count: () => integer("must be an integer"),
  /** A page number, or the size of a page: lower integers count as 1. */
  page: () => integer("must be an integer", { least: 1 }),
  /** A product ID, SKU, or similar: letters, digits, `_`, and `-`. */
  legalId: () => required(maxLength.id).pipe(checked(z.string(), "bad_id", invalidIdText, isLegalId)),
});

/**
 * Accepts most values that the shapes accept as they are, and no others, in a fraction of the time. A value that it does
 * not accept may be valid: the shape decides, and describes the error.
 */
export const isSurely = {
  id: (value: unknown) => isText(value, maxLength.id) && value.trim() !== "",
  name: (value: unknown) => isText(value, maxLength.name) && value.trim() !== "",
  content: (value: unknown) => isText(value, maxLength.content) && value.trim() !== "",
  text: (value: unknown) => isText(value, maxLength.description),
  reference: (value: unknown) => isText(value, maxLength.id),
  tags: (value: unknown) => isText(value, maxLength.tags),
  email: (value: unknown) => isText(value, maxLength.email) && isPlainEmail(value),
  url: isSurelyUrl,
  optionalUrl: (value: unknown) => value === "" || isSurelyUrl(value),
  date: (value: unknown) => typeof value === "string" && isCalendarDate(value),
  time: (value: unknown) =>
    typeof value === "string" && isCalendarDate(value.slice(0, "YYYY-MM-DD".length)) && utcPattern.test(value),
  price: (value: unknown) => isText(value, 32) && pricePattern.test(value),
  currency: (value: unknown) => typeof value === "string" && /^[A-Z]{3}$/.test(value),
  language: (value: unknown) => languages.some((language) => language === value),
  boolean: (value: unknown) => typeof value === "boolean",
  rowId: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
  count: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
  page: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 1,
  legalId: (value: unknown) => isText(value, maxLength.id) && isLegalId(value),
} satisfies Record<keyof typeof shape, (value: unknown) => boolean>;

function isSurelyUrl(value: unknown): boolean {
  return isText(value, maxLength.url) && isUrl(value);
}

function isText(value: unknown, max: number): value is string {
  return typeof value === "string" && value.length <= max && isStorable(value);
}

/** Text without line breaks, for headings and headers. */
export function visibleLine(max: number) {
  return z
    .string({ error: "must be a string" })
    .trim()
    .max(max, { error: `is longer than ${max} characters` })
    .refine((value) => value.isWellFormed() && !/\p{Cc}/u.test(value), {
      error: "must not contain control characters or unpaired surrogates",
    });
}

/** A date on the wire: YYYY-MM-DD. */
export const day = lazily(() => z.string());

/** A timestamp on the wire: ISO 8601, UTC. */
export const timestamp = lazily(() => z.string());

/**
 * The input of lists that can return more fields than the specification defines.
 * Assumed: an extension of the specification; services that do not know it ignore it. Without it, records have only
 * the specified fields.
 */
export const detailsQuery = lazily(() => ({ details: shape.boolean.optional() }));
