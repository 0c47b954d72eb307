import { asText } from "../../../import/layouts/html.ts";

/** The value of `published` for a review that must not be stored. */
export const spam = "spam";

const states = {
  [spam]: "spam trash trashed post-trashed deleted removed",
  false:
    "false 0 no n unpublished unapproved hidden hide pending hold held on-hold draft disable disabled inactive " +
    "not-yet new private archived rejected declined blocked flagged reported",
  true: "true 1 yes y published publish approved approve active enable enabled ok visible public live accepted",
} as const;

const stateOf: ReadonlyMap<string, string> = new Map(
  Object.entries(states).flatMap(([state, words]) => words.split(" ").map((word) => [word, state] as const)),
);

/**
 * Converts the state columns of a review, joined by spaces. The most restrictive one counts.
 * @returns `true`, `false`, or `spam`; an unknown state unchanged, for the checks to reject
 */
export function asState(value: string): string {
  const words = value.toLowerCase().replaceAll("_", "-").split(/\s+/);
  const found = new Set(words.map((word) => stateOf.get(word)));
  if (found.has(spam)) return spam;
  if (found.has(undefined)) return value;
  return found.has("false") ? "false" : "true";
}

/** Converts whether the purchase was verified to a type of reviewer; leaves other values unchanged. */
export function asReviewerType(value: string): string {
  const isVerified = asState(value);
  if (isVerified === "true") return "verified_buyer";
  return isVerified === "false" ? "anonymous" : value;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** Converts a comment of WordPress, in which line breaks are line breaks. */
export function asComment(value: string): string {
  if (/<[a-z/!]/i.test(value)) return asText(value.replaceAll(/\r?\n/g, "<br>"));
  return value.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : entity;
  });
}
