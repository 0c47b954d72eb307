import * as z from "zod";
import { lazily, lazyValues } from "./lazily.ts";

/** Longest values, in characters. Assumed: the specification shows none; longer ones are refused, never cut. */
export const maxLength = {
  id: 255,
  name: 1_024,
  email: 254,
  url: 2_048,
  description: 65_535,
  tags: 4_096,
  spec: 255,
} as const;

/** A problem with one field of one element, as the wire words it. */
export interface FieldError {
  readonly field: string;
  readonly error: string;
}

/**
 * A stable word for what is wrong with a value; scripts and reject files rely on it.
 * Words beside these are added by the importer for what only a file can have.
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

const expectedWords: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "text",
};

/** Words for what a shape says nothing of itself about; zod's own are a programmer's. */
z.config({
  customError: (issue) => {
    if (issue.input === undefined) return isMissing;
    if (issue.code === "invalid_type") return `must be ${expectedWords[issue.expected] ?? issue.expected}`;
    if (issue.code === "too_big" && issue.origin === "array")
      return `holds more than ${issue.maximum} elements`;
    if (issue.code === "too_big" && issue.origin === "string")
      return `is longer than ${issue.maximum} characters`;
    return undefined;
  },
});

const idPattern = /^[A-Za-z0-9_-]+$/;
const emailPattern = /^[^\s@,;<>()"]+@[^\s@,;<>()"]+$/;
// One way to match each character: with two, a long value that does not match would be tried in every way.
const urlPattern = /^https?:\/\/[^\s/?#]\S*$/i;
const pricePattern = /^(?:\d+(?:\.\d+)?|\.\d+)$/;
const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;

/**
 * A product id, SKU or spec value: letters, digits, `_` and `-`. Source: spec "Product (input)".
 * Assumed: `__proto__` is none: many programs lose a key of that name when they read JSON, and the record with it.
 */
export function isLegalId(value: string): boolean {
  return idPattern.test(value) && value !== "__proto__";
}

/** Whether `value` is a day of the calendar written YYYY-MM-DD. */
export function isCalendarDate(value: string): boolean {
  const parts = datePattern.exec(value);
  if (!parts) return false;
  const year = Number(parts[1]);
  const month = Number(parts[2]);
  const day = Number(parts[3]);
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= days;
}

const timePattern = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z)?$/;

/** Whether `value` is a day of the calendar, or a time of one in UTC. */
function isTime(value: string): boolean {
  const day = timePattern.exec(value)?.[1];
  return day !== undefined && isCalendarDate(day) && !Number.isNaN(Date.parse(value));
}

/** Words a value of the wrong type, or one that is not there. */
function typed(says: string) {
  return (issue: { readonly input?: unknown }) => (issue.input === undefined ? isMissing : says);
}

/** Reads an issue's own code, or finds one for zod's own issues. */
export function codeOfIssue(issue: z.core.$ZodIssue): CheckCode {
  if (issue.message === isMissing) return "missing";
  if (issue.code === "custom" && typeof issue.params?.["code"] === "string") {
    return issue.params["code"] as CheckCode;
  }
  return issue.code === "too_big" ? "too_long" : "bad_type";
}

function checked(base: z.ZodString, code: CheckCode, says: string, holds: (value: string) => boolean) {
  return base.refine(holds, { error: says, params: { code } });
}

/** Half of a surrogate pair and U+0000 are no text that every database can keep. */
function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes("\u0000");
}

function bounded(max: number, says = "must be text") {
  return z
    .string({ error: typed(says) })
    .max(max, { error: `is longer than ${max} characters` })
    .refine(isStorable, {
      error: "holds U+0000 or half a surrogate pair",
      params: { code: "bad_characters" satisfies CheckCode },
    });
}

/** Ids arrive as numbers from some clients; they are taken as their digits. */
const looseText = lazily(() =>
  z.union([z.string(), z.number().transform(String)], { error: typed("must be text") }),
);

function required(max: number) {
  return looseText().pipe(checked(bounded(max), "missing", isMissing, (value) => value.trim() !== ""));
}

function wholeNumber(says: string) {
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d{1,16}$/, { error: says })
          .transform(Number),
      ],
      { error: typed(says) },
    )
    .pipe(
      z
        .number({ error: says })
        .int({ error: says })
        .min(0, { error: says })
        .max(Number.MAX_SAFE_INTEGER, { error: says }),
    );
}

/** Scalars of the wire, each with its own words for what is wrong. */
export const shape = lazyValues({
  id: () => required(maxLength.id),
  name: () => required(maxLength.name),
  /** Text that must say something. */
  content: () => required(maxLength.description),
  text: () => bounded(maxLength.description),
  reference: () => looseText().pipe(bounded(maxLength.id)),
  tags: () =>
    z
      .union([z.string(), z.array(z.string()).transform((tags) => tags.join(","))], {
        error: typed("must be text or a list of texts"),
      })
      .pipe(bounded(maxLength.tags)),
  email: () =>
    checked(bounded(maxLength.email), "bad_email", "is not an email address (local@domain)", (value) =>
      emailPattern.test(value),
    ),
  url: () =>
    checked(bounded(maxLength.url), "bad_url", "is not a URL that starts with http:// or https://", (value) =>
      urlPattern.test(value),
    ),
  /** Empty means: none. */
  optionalUrl: () =>
    checked(
      bounded(maxLength.url),
      "bad_url",
      "is not a URL that starts with http:// or https://",
      (value) => value === "" || urlPattern.test(value),
    ),
  date: () =>
    checked(
      z.string({ error: typed("must be a date, YYYY-MM-DD") }),
      "bad_date",
      "is not a date of the calendar, the day alone (YYYY-MM-DD)",
      isCalendarDate,
    ),
  /** A day, or a time in UTC. */
  time: () =>
    checked(
      z.string({ error: typed("must be a time") }),
      "bad_date",
      "is not a time (YYYY-MM-DDTHH:MM:SS.sssZ, or the day alone)",
      isTime,
    ),
  price: () =>
    z
      .union([z.string(), z.number().transform(String)], { error: typed("must be a number") })
      .pipe(
        checked(
          z.string(),
          "bad_price",
          "is not a price (digits, and a point before the decimals)",
          (value) => value === "" || (pricePattern.test(value) && value.length <= 32),
        ),
      ),
  currency: () =>
    checked(
      bounded(3),
      "bad_currency",
      "is not an ISO currency code of three letters",
      (value) => value === "" || /^[A-Za-z]{3}$/.test(value),
    ).transform((value) => value.toUpperCase()),
  boolean: () =>
    z.union([z.boolean(), z.enum(["true", "false"]).transform((value) => value === "true")], {
      error: typed("must be true or false"),
    }),
  /** A row's id, in digits or as a number. */
  rowId: () => wholeNumber("must be an id, a whole number"),
  /** A whole number, in digits or as a number, from 0. */
  count: () => wholeNumber("must be a whole number"),
  /** A product id, SKU or the like, of letters, digits, `_` and `-`. */
  legalId: () =>
    required(maxLength.id).pipe(
      checked(z.string(), "bad_id", "allows only letters, digits, _ and -", isLegalId),
    ),
});

/** A timestamp of the wire: ISO 8601 UTC. */
export const timestamp = lazily(() => z.string());

/**
 * What a list call takes to tell more of each record than the specification shows.
 * Assumed: an addition to the specification; a service that does not know it passes over it, and without it the
 * records are as the specification has them.
 */
export const detailsQuery = lazily(() => ({ details: shape.boolean.optional() }));
