import { damagedWorkbook, type XmlHandler } from "./xml.ts";

/** How a number is shown, as far as that changes what it is. */
export type NumberFormat =
  | { readonly type: "date"; readonly hasDate: boolean; readonly hasTime: boolean }
  /** With leading zeros. */
  | { readonly type: "padded"; readonly digits: number };

const maxFormats = 100_000;

/** Numbers of formats that every program knows; 27 to 36 and 50 to 58 are dates in East Asian editions. */
const builtIn: readonly (readonly [from: number, to: number, hasDate: boolean, hasTime: boolean])[] = [
  [14, 17, true, false],
  [18, 21, false, true],
  [22, 22, true, true],
  [27, 31, true, false],
  [32, 35, false, true],
  [36, 36, true, false],
  [45, 45, false, true],
  [47, 47, false, true],
  [50, 58, true, false],
];

/** Collects the number formats of the part with styles, in the order in which cells refer to them. */
export function collectFormats(formats: (NumberFormat | undefined)[]): XmlHandler {
  const own = new Map<string, NumberFormat | undefined>();
  let isCellFormat = false;
  return {
    open: (name, attributes) => {
      if (name === "numFmt" && own.size < maxFormats) {
        own.set(attributes["numFmtId"] ?? "", readFormatCode(attributes["formatCode"] ?? ""));
      } else if (name === "cellXfs") isCellFormat = true;
      else if (name === "xf" && isCellFormat) {
        if (formats.length === maxFormats) throw damagedWorkbook();
        const id = attributes["numFmtId"] ?? "0";
        const [, , hasDate, hasTime] = builtIn.find(([from, to]) => Number(id) >= from && Number(id) <= to) ?? [];
        const known = hasDate !== undefined && hasTime !== undefined;
        formats.push(own.has(id) || !known ? own.get(id) : { type: "date", hasDate, hasTime });
      }
    },
    close: (name) => {
      if (name === "cellXfs") isCellFormat = false;
    },
  };
}

/** Reads a format such as `dd.mm.yyyy hh:mm`, or `00000`. */
export function readFormatCode(code: string): NumberFormat | undefined {
  if (/^0{2,15}$/.test(code)) return { type: "padded", digits: code.length };
  // Up to the first semicolon, it applies to positive numbers; quoted, escaped, and bracketed parts are not part of the pattern.
  const [positive = ""] = code.replaceAll(/"[^"]*"|[\\_*]./g, "").split(";");
  // Elapsed time is neither a date nor a time of day.
  if (/\[[hms]+\]/i.test(positive)) return undefined;
  const letters = positive.replaceAll(/\[[^[\]]*\]/g, "").toLowerCase();
  if (/general|[#?0]/.test(letters.replaceAll(/s\.0{1,3}/g, "s"))) return undefined;
  const hasTime = /[hs]/.test(letters);
  // Next to hours or seconds, m means minutes.
  const hasDate = /[yd]/.test(letters) || (letters.includes("m") && !hasTime);
  return hasDate || hasTime ? { type: "date", hasDate, hasTime } : undefined;
}
