/** An unambiguous price, a price with two possible readings, or undefined if it is not a price. */
export type ReadPrice = { readonly price: string } | { readonly doubtful: readonly [string, string] } | undefined;

const plain = /^(?:\d+(?:\.\d+)?|\.\d+)$/;
/** A currency's symbol, code, or short name, with or without a period: `R$`, `EUR`, `kr.`, `zł`. */
const sign = String.raw`(?:\p{L}{0,3}\p{Sc}|\p{L}{1,4}\.?)`;
/** Short names that are neither symbols nor codes. */
const shortNames = new Set("kr zł kč ft lei fr sfr rs r tl rm rp bs din ден лв руб р грн сом тг".split(" "));
const withSign = new RegExp(
  String.raw`^(${sign})? ?(\d(?:[\d.,'\u2019]| (?=[\d.,'\u2019]))*)(?:[.,][-\u2012-\u2015]{1,2})? ?(${sign})?$`,
  "u",
);
const thousands = /^\d{1,3}(?:([., '\u2019])\d{3})(?:\1\d{3})*$/;

/** The maximum length of a price in any notation, in characters. */
const maxPriceLength = 64;

/** Currencies with three decimals. Source: ISO 4217. */
const threeDecimals = new Set(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]);

/**
 * Reads a price as people and shops write it: `R$ 1.234,56`, `1,234.56`, `€ 12,50`, `1'234.50`, `12,-`.
 * Assumed: three digits after the only comma, or after the only point of a price with a currency symbol, may be
 * thousands or decimals. A known currency without three decimals decides; otherwise, the price is ambiguous. A plain
 * number with a point is taken literally.
 * @param currency the ISO code, if known
 */
export function readPrice(value: string, currency?: string): ReadPrice {
  if (value.length > maxPriceLength) return undefined;
  if (plain.test(value)) return { price: value };
  const parts = withSign.exec(value.normalize("NFKC").replaceAll(/\s+/g, " "));
  if (!parts || (parts[1] !== undefined && parts[3] !== undefined)) return undefined;
  const symbol = parts[1] ?? parts[3];
  if (!isCurrency(symbol)) return undefined;
  return readNumber((parts[2] ?? "").trim(), symbol !== undefined, currency);
}

let codes: ReadonlySet<string> | undefined;

function isCurrency(text: string | undefined): boolean {
  if (text === undefined || /\p{Sc}$/u.test(text)) return true;
  const name = text.replace(/\.$/, "");
  codes ??= new Set(Intl.supportedValuesOf("currency"));
  return shortNames.has(name.toLowerCase()) || codes.has(name);
}

function readNumber(number: string, hasSign: boolean, currency: string | undefined): ReadPrice {
  const separators = Array.from(number.replaceAll(/\d/g, ""));
  const last = separators.at(-1);
  if (last === undefined) return { price: number };
  const at = number.lastIndexOf(last);
  const [whole, decimals] = [number.slice(0, at), number.slice(at + 1)];
  const isOnly = separators.length === 1;
  const isDecimalSign = last === "." || last === ",";
  const isSameThroughout = separators.every((one) => one === last);
  if (isDecimalSign && isOnly && decimals.length === 3 && whole.length <= 3 && !whole.startsWith("0")) {
    if (last === "." && !hasSign) return { price: number };
    const isCertain = currency !== undefined && !threeDecimals.has(currency.toUpperCase());
    if (isCertain) return { price: whole + decimals };
    return { doubtful: [whole + decimals, `${whole}.${decimals}`] };
  }
  if (isDecimalSign && isOnly) return decimals === "" ? undefined : { price: `${whole}.${decimals}` };
  if (isSameThroughout) return thousands.test(number) ? { price: number.replaceAll(/\D/g, "") } : undefined;
  const isSound = isDecimalSign && decimals !== "" && thousands.test(whole);
  return isSound ? { price: `${whole.replaceAll(/\D/g, "")}.${decimals}` } : undefined;
}

/** The reason for rejecting an ambiguous price. */
export function describeDoubt(value: string, [one, other]: readonly [string, string]): string {
  return `'${value}' could be ${one} or ${other}; write it without a thousands separator and with a decimal point`;
}
