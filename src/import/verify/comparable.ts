import { emailKeyOf, normalizeSpec, type ProductField, type RecordField, toShortPrice } from "../../contract/index.ts";
import { createHash } from "node:crypto";

/**
 * The values of a record by field, in a form in which equal values are equal text. Null means empty; undefined is
 * unknown: it was not sent, or the service does not return it.
 */
export type Values = Readonly<Record<string, string | null | undefined>>;

type Value = string | null | undefined;

/** Values up to this length are compared and shown as they are. */
const maxShown = 100;

/** Surrounding whitespace and the type of line breaks do not distinguish values. */
export function text(value: string | number | boolean | null | undefined): Value {
  if (value === undefined || value === null) return value;
  const trimmed = String(value).trim();
  const plain = trimmed.includes("\r") ? trimmed.replaceAll(/\r\n?/g, "\n") : trimmed;
  return plain === "" ? null : shorten(plain);
}

/** For a value that was sent: an empty one keeps the stored value. */
export function sentText(value: string | number | boolean | null | undefined): Value {
  return text(value) ?? undefined;
}

/** The spelling of an address does not distinguish it. */
export function email(value: string | undefined): Value {
  return text(value === undefined ? undefined : emailKeyOf(value));
}

/** Insignificant zeros do not distinguish prices. */
export function price(value: string | number | null | undefined): Value {
  const plain = text(value);
  return typeof plain === "string" ? toShortPrice(plain) : plain;
}

/** The day of a date or a timestamp: an order that is sent again on the same day keeps its time. */
export function day(value: string | null | undefined): Value {
  return time(value)?.slice(0, "YYYY-MM-DD".length);
}

/** A date that was sent. */
export function sentTime(value: string | null | undefined): Value {
  return value === null || value === undefined || value === "" ? undefined : time(value);
}

/** Midnight in UTC means the day: services store a date as a timestamp. */
export function time(value: string | null | undefined): Value {
  if (value === undefined || value === null) return value;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) return text(value);
  const iso = new Date(ms).toISOString();
  return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, "YYYY-MM-DD".length) : iso;
}

/** The value of a field of a record that was sent: an empty one keeps the stored value, unless it erases it. */
export function sentValue(value: unknown, { type, isSpec, isErasable }: Partial<ProductField>): Value {
  if (isSpec === true) return sentSpec(value as string | null | undefined);
  const own = storedValue(value, { type });
  return isErasable === true ? own : (own ?? undefined);
}

/** The value of a field of a stored record. */
export function storedValue(value: unknown, { type }: Partial<RecordField>): Value {
  const own = value as string | undefined;
  if (type === "email") return email(own);
  if (type === "date") return day(own);
  if (type === "price") return price(own);
  return text(type === "currency" && own ? own.toUpperCase() : own);
}

/** A spec value that was sent. The service ignores one that is empty, or `N/A`. */
export function sentSpec(value: string | null | undefined): Value {
  if (value === undefined || value === null) return undefined;
  const normalized = normalizeSpec(value);
  return "value" in normalized ? shorten(normalized.value) : undefined;
}

/** Shortens a long value, with a hash so that different values stay different. */
function shorten(value: string): string {
  if (value.length <= maxShown) return value;
  const hash = createHash("sha256").update(value).digest("hex").slice(0, 16);
  return `${value.slice(0, 60).toWellFormed()}… (${value.length} characters, SHA-256 ${hash})`;
}

/** A field whose stored value differs from the one that was sent. */
export interface Difference {
  readonly field: string;
  readonly expected: string | null;
  readonly stored: string | null;
}

/**
 * Compares the values of records that belong together, such as the units of a product, regardless of their order.
 * Unknown values equal everything.
 */
export function* compareValues(
  expected: readonly Values[],
  stored: readonly Values[],
): Generator<Difference & { readonly isSame: boolean }> {
  for (const field in expected[0]) {
    const [wanted, found] = [collect(expected, field), collect(stored, field)];
    if (wanted === undefined || found === undefined) continue;
    yield { field, expected: wanted, stored: found, isSame: wanted === found };
  }
}

/** The distinct values of a field; undefined if one of them is unknown. */
function collect(records: readonly Values[], field: string): Value {
  if (records.length === 1) return records[0]?.[field];
  const values = records.map((record) => record[field]);
  if (values.includes(undefined) || values.length === 0) return undefined;
  const found = values.flatMap((value) => value ?? []).toSorted();
  if (found.length < values.length) return found.length === 0 ? null : undefined;
  // Units of the same price are one value, whatever their number.
  return new Set(found).size === 1 ? found[0] : found.join(", ");
}
