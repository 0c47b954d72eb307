import { readDate } from "../check/date.ts";
import { readPrice } from "../check/price.ts";
import { readNamedDate, readNumberedDate } from "./dates.ts";
import type { ValueContext } from "./layout.ts";

/** A price without its currency's sign and with a point before the decimals; in doubt, as it is written. */
export function asPrice(value: string, { field }: ValueContext): string {
  const read = readPrice(value, field("currency_iso") || undefined);
  return read && "price" in read ? read.price : value;
}

/** The day of a date in any of the forms that leave no doubt, and in the file's own order of day and month. */
export function asDay(value: string, { dateOrder }: ValueContext): string {
  if (readDate(value) !== undefined) return value;
  const numbered = readNumberedDate(value, dateOrder);
  return numbered === value ? readNamedDate(value) : numbered;
}

/** `#1001` is the order 1001. */
export function asOrderNumber(value: string): string {
  return value.startsWith("#") && value.length > 1 ? value.slice(1) : value;
}

/** The first of several addresses that a cell holds, with commas, semicolons or pipes between them. */
export function asFirstUrl(value: string): string {
  return value.split(/[,;|]\s*(?=https?:\/\/)/i, 1)[0]?.trim() ?? value;
}

/** A place on the shop's own disk is no address. */
export function isNoUrl(value: string): boolean {
  return !/^https?:\/\//i.test(value);
}

export function isZero(value: string): boolean {
  return /^[0.,\s]*0[0.,\s]*$/.test(value);
}

/** A list with a comma and no blank between. */
export function asTags(value: string): string {
  return value
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "")
    .join(",");
}

/** Spreadsheets keep a number's zeros behind an apostrophe. */
export function asBarcode(value: string): string {
  return value.replace(/^'/, "");
}

/** Whether a barcode is a book's. Source: ISO 2108, ISBN-13. */
export function isIsbn(value: string): boolean {
  return /^'?97[89]\d{10}$/.test(value);
}

export function isNoIsbn(value: string): boolean {
  return !isIsbn(value);
}

/** What one unit costs, of an amount for several; the amount where the number is not known. */
export function unitPrice(amount: string, quantity: string): string {
  const [total, units] = [Number(amount), Number(quantity)];
  return units > 1 && Number.isFinite(total) ? String(Math.round((total / units) * 10_000) / 10_000) : amount;
}
