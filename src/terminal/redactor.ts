import { createHmac } from "node:crypto";
import { createPseudonym, hideAddresses } from "./redaction.ts";

/** Hides personal data before it is laid out, because a shortened address or name could no longer be recognized. */
export interface Redactor {
  /** Hides the email addresses in a text. */
  text(text: string): string;
  /** Hides the addresses in a text, and the cells of a file between double quotes. */
  quotedCells(text: string): string;
  /** Hides the addresses, names, and rejected values in records of any shape. Only strings change. */
  data<T>(data: T): T;
}

const addressField = /(?:^|_)emails?$|^email_(?:address|list)$/;
const nameField = /^(?:customer|user|reviewer|first|last|full|user_display|shop_user)_name$/;
/** Names of people in records of people, but of products, groups, and rules elsewhere. */
const nameFieldOfPerson = /^(?:display_name|name|slug)$/;
const fieldOfPerson =
  /(?:^|_)email$|^(?:user_id|user_type|social_image|bio|content|reviewer_type|review_content|review_score)$/;
/** Who decided: a person, or an actor such as `MODERATOR` or `RULE 3`. */
const actorField = /^by(?:_name)?$/;
const isActor = (value: string) => /^[A-Z]+(?: \d+)?$/.test(value);
/** The rejected value at the end of a place: `orders.csv:3:email ("value")`. */
const quotedValue = / \(".*"\)$/s;
const quotedText = /"(?:[^"\\]|\\.)*"/g;
/** Rejected values, and those that differ from the stored ones, in records that name their column. */
const cellFields: ReadonlySet<string> = new Set(["value", "expected", "stored"]);
/** Fields with text that may mention a person. */
const textField =
  /^(?!product_)(?:.*_)?(?:content|title|text|html|subject|body|bio|message|comment|detail|about|headers|reason)$/;

/** @param key determines the pseudonyms, which are the same for the same address or name */
export function createRedactor(key: Buffer): Redactor {
  const pseudonym = createPseudonym(key);
  const text = (value: string) => hideAddresses(value, pseudonym);
  const pseudonymOfName = (name: string) => {
    const normalized = name.normalize("NFC").trim().toLowerCase();
    return normalized === ""
      ? name
      : `redacted-${createHmac("sha256", key).update(normalized).digest("hex").slice(0, 10)}`;
  };

  const hideField = (name: string, value: string, record: FieldsOf): string => {
    if (value === "") return value;
    if (addressField.test(name)) return value.includes("@") ? pseudonym(value) : pseudonymOfName(value);
    if (isName(name, record)) return pseudonymOfName(value);
    if ("column" in record && cellFields.has(name)) return hideCell(value);
    if ("column" in record && name === "first") return hideNested(value.replace(quotedValue, hideQuoted));
    if ("expected" in record && name === "reason") return hideNested(value.replaceAll(quotedText, hideQuoted));
    return hideNested(value);
  };
  /** A cell may be anything, and is already shortened; numbers and dates are harmless. */
  const hideCell = (value: string) => (/[\p{L}@]/u.test(value) ? pseudonymOfName(value) : value);
  const hideQuoted = (quoted: string) => quoted.replace(/"(.*)"/s, (_, cell: string) => `"${hideCell(cell)}"`);
  /** Some fields contain a JSON document, such as the payload of a webhook. */
  const hideNested = (value: string): string => {
    if (!/^\s*[[{]/.test(value)) return text(value);
    try {
      return JSON.stringify(hideAll(JSON.parse(value)));
    } catch {
      return text(value);
    }
  };
  /** @param isRow whether the value is a row of a file, whose columns have any name */
  const hide = (value: unknown, mentioned: ReadonlySet<string>, isRow = false): unknown => {
    if (typeof value === "string") return hideNested(value);
    if (Array.isArray(value)) return value.map((element) => hide(element, mentioned));
    if (!isRecord(value)) return value;
    const entries = Object.entries(value).map(([name, nested]): [string, unknown] => {
      if (typeof nested === "string") {
        const hidden = hideField(name, nested, value);
        return [text(name), isRow || textField.test(name) ? hideWords(hidden, mentioned) : hidden];
      }
      if (addressField.test(name)) return [name, hideEvery(nested, pseudonym)];
      if (name === "names" && Array.isArray(nested)) return [name, hideEvery(nested, pseudonymOfName)];
      return [text(name), hide(nested, mentioned, name === "values")];
    });
    return Object.fromEntries(entries);
  };
  const hideAll = <T>(data: T): T => hide(data, collectWords(data)) as T;
  const quotedCells = (value: string) => text(value.replaceAll(quotedText, hideQuoted));
  return { text, quotedCells, data: hideAll };
}

type FieldsOf = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is FieldsOf {
  return typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

function isName(field: string, record: FieldsOf): boolean {
  if (nameField.test(field) || (actorField.test(field) && !isActor(String(record[field])))) return true;
  return nameFieldOfPerson.test(field) && Object.keys(record).some((other) => fieldOfPerson.test(other));
}

/** Replaces every string in a value, for example in lists of addresses. */
function hideEvery(value: unknown, pseudonym: (text: string) => string): unknown {
  if (typeof value === "string") return value === "" ? value : pseudonym(value);
  if (Array.isArray(value)) return value.map((element) => hideEvery(element, pseudonym));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, nested]) => [name, hideEvery(nested, pseudonym)]));
}

const word = /[\p{L}\p{M}\p{N}'’-]+/gu;
const minWordLength = 3;

/** The words of all names in the data, in lower case. */
function collectWords(data: unknown, words = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(data)) for (const element of data) collectWords(element, words);
  else if (isRecord(data)) {
    for (const [field, value] of Object.entries(data)) {
      if (typeof value !== "string") collectWords(value, words);
      else if (isName(field, data)) for (const [found] of value.matchAll(word)) words.add(found.toLowerCase());
    }
  }
  return words;
}

function hideWords(text: string, words: ReadonlySet<string>): string {
  if (words.size === 0) return text;
  const isHidden = (found: string) => found.length >= minWordLength && words.has(found.toLowerCase());
  return text.replaceAll(word, (found) => (isHidden(found) ? "[name]" : found));
}
