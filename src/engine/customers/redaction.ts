import { addressForms, addressPattern } from "../../contract/customers/address-pattern.ts";
import { sql } from "kysely";
import type { Customer } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import type { Person } from "./person.ts";

/** The records of a customer, by ID, including those that were deleted before. */
export interface OwnRecords {
  readonly reviews: ReadonlySet<number>;
  readonly questions: ReadonlySet<number>;
  /** Answers of the customer, and to the customer's questions. */
  readonly answers: ReadonlySet<number>;
  readonly users: ReadonlySet<number>;
}

/** What identifies a customer in data that are not records of the customer. */
export interface PersonalValues {
  /** Addresses in lower case. They are found anywhere, in any case, and as part of a URL, but not within others. */
  readonly addresses: readonly string[];
  /** Names and texts. They can be equal to those of others, so they are only found beside an address. */
  readonly values: ReadonlySet<string>;
  /** Full names that nobody else has. They are found in notes of the store. */
  readonly names: readonly string[];
  readonly records: OwnRecords;
}

/** The forms in which an address occurs in texts, in lower case. */
export function formsOf(address: string): readonly string[] {
  return addressForms(address).map((form) => form.toLowerCase());
}

/** Creates a function that replaces the addresses in a text. */
export function createAddressReplacer(addresses: readonly string[], replacement: string): (text: string) => string {
  const pattern = addressPattern(addresses);
  return (text) => text.replaceAll(pattern, replacement);
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of records with texts of their author, or that identify the author. */
const personalFields: ReadonlySet<string> = new Set([
  "title",
  "content",
  "display_name",
  "slug",
  "bio",
  "social_image",
]);

/** Whether a result of a call is a record of the customer, by the fields that only such records have. */
function isOwn(fields: Fields, { reviews, questions, answers, users }: OwnRecords): boolean {
  const { id } = fields;
  if (typeof id !== "number") return false;
  if ("slug" in fields) return users.has(id);
  if ("store_owner_comment" in fields) return answers.has(id);
  if ("score" in fields || "comments_avatar" in fields) return reviews.has(id);
  return ("asker" in fields || "state" in fields) && questions.has(id);
}

/** Moderation rules are notes of the store. */
const isNote = (fields: Fields) => "description" in fields && "words" in fields;

/** The author of a record, whose row may have been merged into another since. */
const isAuthor = (name: string, { store_owner_comment }: Fields) =>
  ["user", "answerer", "asker"].includes(name) && store_owner_comment !== true;

/**
 * Creates a function that removes a customer from JSON data: addresses, records of the customer, and names and texts beside
 * an address.
 * @returns the same object if it contains none
 */
export function createRedactor({ addresses, values, names, records }: PersonalValues): (data: unknown) => unknown {
  const pattern = addressPattern(addresses);
  const replaceAddresses = createAddressReplacer(addresses, "");
  const replaceNames = createNameReplacer(names, "");
  const redactNote = (note: Fields): Fields => {
    const text = JSON.stringify(note);
    const redacted = replaceNames(replaceAddresses(text));
    return redacted === text ? note : (JSON.parse(redacted) as Fields);
  };
  const redactObject = (fields: Fields, isOwnAuthor: boolean): Fields => {
    if (isNote(fields)) return redactNote(fields);
    const isPersonal = isOwnAuthor || isOwn(fields, records);
    const isAddressed = Object.values(fields).some((value) => typeof value === "string" && value.search(pattern) >= 0);
    const redactField = (name: string, value: unknown) => {
      if (typeof value !== "string") return redact(value, isPersonal && isAuthor(name, fields));
      if (isPersonal && personalFields.has(name)) return "";
      return isAddressed && values.has(value) ? "" : replaceAddresses(value);
    };
    const entries = Object.entries(fields).map(([name, value]) => [name, redactField(name, value)] as const);
    return entries.some(([name, value]) => value !== fields[name]) ? Object.fromEntries(entries) : fields;
  };
  const redact = (data: unknown, isOwnAuthor = false): unknown => {
    if (typeof data === "string") return replaceAddresses(data);
    if (Array.isArray(data)) {
      const list = data.map((item) => redact(item));
      return list.some((value, at) => value !== data[at]) ? list : data;
    }
    return typeof data === "object" && data !== null ? redactObject(data as Fields, isOwnAuthor) : data;
  };
  return (data) => redact(data);
}

/** The name of erased customers. */
export const erasedName = "Anonymous";

/** Notes of the store, which nobody else sees: reasons of decisions, and rules. They can mention anyone by name. */
export const noteColumns: ReadonlySet<string> = new Set([
  "account_settings.value",
  "question_events.by_name",
  "question_events.reason",
  "review_events.by_name",
  "review_events.reason",
]);

/** A name of several words, such as `Ann Lee`. Others are also ordinary words, or names of moderators. */
const isFullName = (name: string) => /\S\s+\S/.test(name) && name.length >= 6;

/** Finds the full names of a customer that nobody else in the account has, so that notes with them are about the customer. */
export async function findOwnNames(
  { accountId, userRows, orderRows }: Person,
  { names }: Pick<Customer, "names">,
  { transaction }: HandlerContext,
): Promise<readonly string[]> {
  const fullNames = names.filter(isFullName);
  if (fullNames.length === 0) return [];
  const [users, orders] = [new Set(userRows), new Set(orderRows)];
  const lower = fullNames.map((name) => name.toLowerCase());
  const named = await selectAccountRows("users", accountId, transaction)
    .select(["id", "display_name as name"])
    .where(sql<string>`lower(display_name)`, "in", lower)
    .execute();
  const ordered = await selectAccountRows("orders", accountId, transaction)
    .select(["id", "customer_name as name"])
    .where(sql<string>`lower(customer_name)`, "in", lower)
    .execute();
  const others = [...named.filter(({ id }) => !users.has(id)), ...ordered.filter(({ id }) => !orders.has(id))];
  const shared = new Set(others.map(({ name }) => name.toLowerCase()));
  return fullNames.filter((name) => !shared.has(name.toLowerCase()));
}

/** Creates a function that replaces names in a text, in any case, but not as part of a longer word. */
export function createNameReplacer(names: readonly string[], replacement: string): (text: string) => string {
  if (names.length === 0) return (text) => text;
  const parts = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${parts.join("|")})(?![\p{L}\p{N}])`, "giu");
  return (text) => text.replaceAll(pattern, replacement);
}
