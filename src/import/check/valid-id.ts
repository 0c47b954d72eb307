import { createHash } from "node:crypto";
import { isLegalId, maxLength, normalizeSpec } from "../../contract/index.ts";

/** Letters that Unicode normalization does not reduce to ASCII. */
const spelledOut: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  ł: "l",
  Ł: "L",
  þ: "th",
  Þ: "Th",
  ı: "i",
};

/** RFC 4648 base 32 in lowercase: it has no `0`, which a spec value would lose at its start. */
const digits = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * 50 bits: among a million IDs that differ only in special characters, a collision occurs once in two thousand files.
 */
const tailLength = 10;

/**
 * Proposes a valid ID for one that the service would drop: accents removed, other characters replaced by `-`, and a
 * suffix derived from the entire original.
 * Source: spec "Product (input)". Assumed: the suffix is always present, so the result depends only on the original and
 * not on other rows, files, or runs, and collides neither with the result for another original (`A/1` and `A 1`) nor
 * with a valid ID (`A-1`); the same text in two Unicode forms is the same ID.
 */
export function proposeLegalId(original: string): string {
  const composed = original.normalize("NFC");
  const slug = foldAccents(composed)
    .replaceAll(/[^A-Za-z0-9_]+/g, "-")
    .slice(0, maxLength.id - tailLength - 1)
    .replaceAll(/^-+|(?<!-)-+$/g, "");
  return [slug, tailOf(composed)].filter((part) => part !== "").join("-");
}

function foldAccents(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .replaceAll(/[^\p{ASCII}]/gu, (letter) => spelledOut[letter] ?? letter);
}

function tailOf(original: string): string {
  const hash = createHash("sha256").update(original).digest();
  let tail = "";
  for (let at = 0; at < tailLength; at++) tail += digits[(hash[at] ?? 0) & 31];
  return tail;
}

/** An ID that was rewritten to make it valid. */
export interface FixedId {
  readonly original: string;
  readonly fixed: string;
}

/**
 * The fields whose IDs may be rewritten. Assumed: among the spec values, only `sku` and `external_sku`; `brand` is a
 * name, and `upc`, `isbn`, and `mpn` are assigned by others, so a changed value would identify something else.
 */
export const fixableFields: readonly string[] = ["product_id", "sku", "external_sku"];

/**
 * The field of a layout that has a value in rows whose product ID is not an ID of the shop, such as a name. It is rewritten
 * even without `--fix-ids`.
 */
export const derivedIdField = "derived_id";

/** What `--fix-ids` sends instead of an ID that the service would drop for its characters; undefined for other IDs. */
export function fixId(field: string, value: string): string | undefined {
  if (value === "" || value.length > maxLength.id || !fixableFields.includes(field)) return undefined;
  if (field === "product_id") return isLegalId(value) ? undefined : proposeLegalId(value);
  const normalized = normalizeSpec(value);
  if (!("ignored" in normalized) || normalized.ignored !== "characters") return undefined;
  const sent = normalizeSpec(proposeLegalId(value));
  return "value" in sent ? sent.value : undefined;
}
