import { createHash } from "node:crypto";
import { isLegalId, maxLength, normaliseSpec } from "../../contract/index.ts";

/** Letters that no accent can be taken off. */
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

/** RFC 4648's base 32 in lower case: no `0`, which a spec value would lose where it leads. */
const digits = "abcdefghijklmnopqrstuvwxyz234567";

/** 50 bits: among a million ids that differ in signs alone, two are the same once in two thousand files. */
const tailLength = 10;

/**
 * A legal id for one that the service would drop: accents taken off, other characters a `-`, and a tail that is made
 * of the whole original.
 * Source: spec "Product (input)". Assumed: the tail is there always, so that the pair depends on nothing but the
 * original: not on other rows, files, runs or the order in which they come, and it meets neither the id of another
 * original (`A/1` and `A 1`) nor one that stands as it is (`A-1`); the same text in two Unicode forms is one id.
 */
export function proposeLegalId(original: string): string {
  const composed = original.normalize("NFC");
  const slug = foldAccents(composed)
    .replaceAll(/[^A-Za-z0-9_]+/g, "-")
    .slice(0, maxLength.id - tailLength - 1)
    .replaceAll(/^-+|-+$/g, "");
  return [slug, tailOf(composed)].filter((part) => part !== "").join("-");
}

function foldAccents(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .replaceAll(/[^\p{ASCII}]/gu, (letter) => spelledOut[letter] ?? letter);
}

function tailOf(original: string): string {
  const hash = createHash("sha256").update(original, "utf8").digest();
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
 * The fields with ids that may be put right. Assumed: of the spec values only `sku` and `external_sku`; `brand` is a
 * name, and `upc`, `isbn` and `mpn` are given by others: changed, they would be somebody else's.
 */
export const fixableFields: readonly string[] = ["product_id", "sku", "external_sku"];

/** What `--fix-ids` sends in place of an id that the service would drop for its characters; nothing where it would not. */
export function fixId(field: string, value: string): string | undefined {
  if (value === "" || value.length > maxLength.id || !fixableFields.includes(field)) return undefined;
  if (field === "product_id") {
    return isLegalId(value) ? undefined : proposeLegalId(value);
  }
  const normalised = normaliseSpec(value);
  if (!("ignored" in normalised) || normalised.ignored !== "characters") return undefined;
  const sent = normaliseSpec(proposeLegalId(value));
  return "value" in sent ? sent.value : undefined;
}
