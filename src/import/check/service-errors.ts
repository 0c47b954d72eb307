import { couponErrorTexts, orderConflictText, ServiceError, unsubscriberErrorTexts } from "../../contract/index.ts";
import type { RowError } from "../item.ts";

/**
 * What services of this kind say about a value, and the reject code for it; the first match counts.
 * Source: spec "Errors", "Coupons", "Mass unsubscribe", and the messages in `contract/shapes.ts`. Assumed: other
 * services word their messages as Rails does.
 */
const codeOfWords: readonly (readonly [RegExp, string])[] = [
  [wholly(unsubscriberErrorTexts.emailType), "bad_email_type"],
  [wholly(unsubscriberErrorTexts.email), "bad_email"],
  [wholly(couponErrorTexts.empty_cell), "missing"],
  [wholly(couponErrorTexts.duplicate_code), "duplicate"],
  [wholly(orderConflictText), "order_conflict"],
  [/\bunsubscribed by the user\b/i, "unsubscribed_by_user"],
  [/\b(?:is|are) (?:missing|empty|required)\b|\bmissing\b|can(?:'|no)?t be (?:blank|empty)/i, "missing"],
  [/\b(?:is )?(?:longer than|too long)\b|\bat most \d+ characters/i, "too_long"],
  [/\b(?:is )?(?:shorter than|too short)\b/i, "too_short"],
  [/\be-?mail\b.*(?:invalid|not valid|not an?)|(?:invalid|not an?|not valid).*\be-?mail\b/i, "bad_email"],
  [/\b(?:url|web address|link)\b.*(?:invalid|not valid)|(?:invalid|not an?).*\burl\b/i, "bad_url"],
  [/(?:invalid|not an?|must be an?)\b.*\bdate\b|\bdate\b.*(?:invalid|not valid)/i, "bad_date"],
  [/(?:invalid|not an?|must be an?)\b.*\b(?:price|amount)\b/i, "bad_price"],
  [/\bcurrency\b/i, "bad_currency"],
  [/must be one of .*\bgeneral\b|\bplatform\b/i, "bad_platform"],
  [/allows only letters|only (?:letters|alphanumeric)|alphanumeric/i, "bad_id"],
  [/U\+0000|surrogate|invisible character/i, "bad_characters"],
  [/already (?:been taken|exists)|\bduplicated?\b/i, "duplicate"],
  [/\bmust be (?:true or false|a boolean)\b/i, "bad_boolean"],
  [/\bmust be (?:an?|text)\b/i, "bad_type"],
];

/** What "is invalid" alone means for a field. */
const codeOfField: Readonly<Record<string, string>> = {
  email: "bad_email",
  order_date: "bad_date",
  currency_iso: "bad_currency",
  url: "bad_url",
  product_url: "bad_url",
  image_url: "bad_url",
  product_image: "bad_url",
  price: "bad_price",
  product_price: "bad_price",
  product_id: "bad_id",
};

function wholly(text: string): RegExp {
  return new RegExp(`^${escapeWords(text)}$`, "i");
}

function escapeWords(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

export function readServiceProblem(field: string, text: string): RowError {
  const known = codeOfWords.find(([words]) => words.test(text))?.[1];
  const code = known ?? (/\b(?:invalid|not valid)\b/i.test(text) ? codeOfField[field] : undefined);
  if (code === undefined) return { field, code: "refused", reason: `was rejected by the service: ${text}` };
  // The column name precedes the message, so the field's name is removed from its start.
  const words = field.split("_").map(escapeWords).join("[ _]?");
  const withoutName = text.replace(new RegExp(String.raw`^(?:the )?${words}\s+`, "i"), "");
  return { field, code, reason: `${withoutName} (reported by the service)` };
}

/** Converts the refusal of a call with a single item to a row error. */
export function readCallRefusal(error: ServiceError, { one }: { readonly one: string }): RowError {
  const isTooLarge = error.kind === "bodyTooLarge";
  const reason = isTooLarge
    ? `a call with only this ${one} is too large`
    : `the service rejects this ${one} even alone`;
  return { field: "", code: isTooLarge ? "too_large" : "call_refused", reason: `${reason}: ${error.message}` };
}
