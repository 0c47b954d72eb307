import { readDate } from "../check/date.ts";
import { readPrice } from "../check/price.ts";
import { readNamedDate, readNumberedDate } from "./dates.ts";
import type { ValueContext } from "./layout.ts";

/** Converts a price to digits with a decimal point and no currency symbol; leaves an ambiguous one unchanged. */
export function asPrice(value: string, { field }: ValueContext): string {
  const read = readPrice(value, field("currency_iso") || undefined);
  return read && "price" in read ? read.price : value;
}

/** Converts any unambiguous date, or one in the file's order of day and month, to its day. */
export function asDay(value: string, { dateOrder }: ValueContext): string {
  if (readDate(value) !== undefined) return value;
  const numbered = readNumberedDate(value, dateOrder);
  return numbered === value ? readNamedDate(value) : numbered;
}

/** Removes the `#` from an order number such as `#1001`. */
export function asOrderNumber(value: string): string {
  return value.startsWith("#") && value.length > 1 ? value.slice(1) : value;
}

/** The first of several URLs in a cell, separated by commas, semicolons, or pipes. */
export function asFirstUrl(value: string): string {
  return value.split(/[,;|]\s*(?=https?:\/\/)/i, 1)[0]?.trim() ?? value;
}

/** For example, a path on the shop's own disk. */
export function isNoUrl(value: string): boolean {
  return !/^https?:\/\//i.test(value);
}

export function isZero(value: string): boolean {
  return value.length <= 64 && /^[.,\s]*0[0.,\s]*$/.test(value);
}

/** Formats a list with commas and no spaces. */
export function asTags(value: string): string {
  return value
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "")
    .join(",");
}

/** Removes the apostrophe with which spreadsheets preserve leading zeros. */
export function asBarcode(value: string): string {
  return value.replace(/^'/, "");
}

/** Whether a barcode is an ISBN. Source: ISO 2108, ISBN-13. */
export function isIsbn(value: string): boolean {
  return /^'?97[89]\d{10}$/.test(value);
}

export function isNoIsbn(value: string): boolean {
  return !isIsbn(value);
}

/** The price of one unit, from an amount for several; the amount itself if the quantity is unknown. */
export function unitPrice(amount: string, quantity: string): string {
  const [total, units] = [Number(amount), Number(quantity)];
  return units > 1 && Number.isFinite(total) ? String(Math.round((total / units) * 10_000) / 10_000) : amount;
}
