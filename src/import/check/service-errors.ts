import { couponErrorTexts, ServiceError, unsubscriberErrorTexts } from "../../contract/index.ts";
import type { RowError } from "../item.ts";

/**
 * What services of this kind say of a value, and the code that it stands for; the first that fits counts.
 * Source: spec "Errors", "Coupons", "Mass unsubscribe", our own words in `contract/shapes.ts`. Assumed: others word it as
 * Rails does.
 */
const codeOfWords: readonly (readonly [RegExp, string])[] = [
  [wholly(unsubscriberErrorTexts.emailType), "bad_email_type"],
  [wholly(unsubscriberErrorTexts.email), "bad_email"],
  [wholly(couponErrorTexts.duplicate_code), "duplicate"],
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
  [/U\+0000|surrogate/i, "bad_characters"],
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

function findCode(field: string, text: string): string | undefined {
  const known = codeOfWords.find(([words]) => words.test(text))?.[1];
  return known ?? (/\b(?:invalid|not valid)\b/i.test(text) ? codeOfField[field] : undefined);
}

/** Makes a row's problem of what the service says of one of its fields. */
export function readServiceProblem(field: string, text: string): RowError {
  const code = findCode(field, text);
  if (code === undefined) return { field, code: "refused", reason: `was refused by the service: ${text}` };
  return { field, code, reason: `${withoutName(field, text)}, says the service` };
}

/** Words that begin with the field's name, without it: it stands before them anyway. */
function withoutName(field: string, text: string): string {
  const words = field.split("_").map(escapeWords).join("[ _]?");
  return text.replace(new RegExp(String.raw`^(?:the )?${words}\s+`, "i"), "");
}

/** Makes a problem of the words with which the service refused a call that held one item alone. */
export function readCallRefusal(error: ServiceError, { one }: { readonly one: string }): RowError {
  if (error.kind === "bodyTooLarge") {
    return {
      field: "",
      code: "too_large",
      reason: `a call with this ${one} alone is too large: ${error.message}`,
    };
  }
  return {
    field: "",
    code: "call_refused",
    reason: `the service refuses this ${one} alone: ${error.message}`,
  };
}
