import { maxLength } from "../../contract/index.ts";
import type { RowError } from "../item.ts";

/** The maximum length of a value in any field, in characters. */
export const maxValueLength = Math.max(...Object.values(maxLength));

/** Stands for HTML that is too complex to be read; no cell contains this character. */
export const tooComplex = "\0";

/** The first character of an error value, and the last one with which a damaged value can begin. */
const code = { numberSign: 35, equals: 61 } as const;

/**
 * What spreadsheets show instead of a value that a formula cannot calculate, in English and in the languages that
 * translate it most often.
 * Source: Microsoft, "Excel error values".
 */
// cspell:disable
const errorValues: ReadonlySet<string> = new Set(
  (
    "#N/A #REF! #VALUE! #NAME? #DIV/0! #NUM! #NULL! #SPILL! #CALC! #FIELD! #BLOCKED! #CONNECT! #BUSY! #UNKNOWN! " +
    "#EXTERNAL! #PYTHON! #TIMEOUT! #ERROR! #GETTING_DATA #NV #BEZUG! #WERT! #ZAHL! #VALEUR! #NOM? #NOMBRE! #NUL! " +
    "#¡REF! #¡VALOR! #¿NOMBRE? #¡NUM! #¡NULO! #¡DIV/0! #N/D #N/D! #RIF! #VALORE! #NOME? #NULLO! #VALOR! #NÚM! #NULO! " +
    "#VERW! #WAARDE! #NAAM? #GETAL! #LEEG! #N/B #DEEL/0! #ADR! #ARG! #NAZWA? #LICZBA! #ZERO! #DZIEL/0!"
  ).split(" "),
);
// cspell:enable

/** Whether an entire value is the error of a spreadsheet formula. */
export function isErrorValue(value: string): boolean {
  return value.charCodeAt(0) === code.numberSign && errorValues.has(value);
}

/** Excel always writes the plus sign, which no valid ID contains. */
const scientific = /^\d(?:[.,]\d{1,17})?[Ee]\+\d{1,3}$/;

/**
 * Finds values that cannot be right in any field: longer than any field allows, or damaged by a spreadsheet program.
 * @param ids the fields with IDs, which a spreadsheet program may have taken for numbers
 */
export function findDamage(field: string, value: string, ids: ReadonlySet<string>): RowError | undefined {
  if (value.length > maxValueLength) {
    return { field, code: "too_long", reason: `has ${value.length} characters, more than any field allows` };
  }
  const first = value.charCodeAt(0);
  // Most values are empty or begin with a letter.
  if (!(first <= code.equals)) return undefined;
  if (first === code.numberSign && errorValues.has(value)) {
    return { field, code: "spreadsheet_error", reason: `'${value}' is the error of a spreadsheet formula` };
  }
  if (first === code.equals && /^="[^"]*"$/.test(value)) {
    return { field, code: "spreadsheet_formula", reason: "is a spreadsheet formula around a value" };
  }
  if (ids.has(field) && scientific.test(value)) {
    const reason = `'${value}' is a number that a spreadsheet program has rounded; the original digits are lost`;
    return { field, code: "scientific_notation", reason };
  }
  if (value === tooComplex) {
    return { field, code: "html_too_complex", reason: "contains more than 20,000 HTML tags or 256 nested elements" };
  }
  return undefined;
}

/** The fields whose values `findDoubt` checks. */
export const doubtedFields = ["upc", "email"] as const;

/** Finds values that are stored as they are, although they are probably not what was meant. */
export function findDoubt(field: string, value: string): string | undefined {
  if (field === "upc" && /^\d{11}$/.test(value) && hasUpcCheckDigit(`0${value}`)) {
    return "a UPC without its leading zero, which a spreadsheet program removed";
  }
  if (field === "email" && /^[^@]+@[^@.]+$/.test(value)) return "no dot after the @, so it receives no email";
  return undefined;
}

/** Source: GS1 General Specifications, check digit calculation. */
function hasUpcCheckDigit(digits: string): boolean {
  const weighted = Array.from(digits, (digit, at) => Number(digit) * (at % 2 === 0 ? 3 : 1));
  return weighted.reduce((sum, one) => sum + one, 0) % 10 === 0;
}
