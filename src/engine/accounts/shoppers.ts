import type { UserSummary } from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { findFreeSlug, toSlug } from "../kernel/slug.ts";

/** The columns of a user that public responses include. */
export type Person = Pick<Row<"users">, "id" | "display_name" | "slug" | "social_image" | "bio" | "score" | "kind">;

export const personColumns = [
  "users.id",
  "users.display_name",
  "users.slug",
  "users.social_image",
  "users.bio",
  "users.score",
  "users.kind",
] as const;

/** The author of a review, question, or answer, as submitted. */
export interface Author {
  readonly email: string;
  readonly display_name: string;
}

type Context = Pick<HandlerContext, "transaction" | "nowMs" | "random">;

/**
 * Finds the shopper with a verified email address, or adds one.
 * Assumed: a shopper is identified by account and verified address in lower case, and keeps the first name given.
 */
export async function findOrAddShopper(author: Author, accountId: number, context: Context): Promise<Person> {
  const found = await findShopper(author.email, accountId, context);
  return found ?? addShopper(author, { accountId, email_key: author.email.toLowerCase() }, context);
}

/**
 * Finds or adds the shopper with a verified email address, and changes their name to the one submitted.
 * Assumed: the owner of a verified address may choose any name, which then applies to everything they wrote.
 */
export async function findAndRenameShopper(author: Author, accountId: number, context: Context): Promise<Person> {
  const person = await findOrAddShopper(author, accountId, context);
  const { display_name } = author;
  if (person.display_name === display_name) return person;
  await context.transaction.updateTable("users").set({ display_name }).where("id", "=", person.id).execute();
  return { ...person, display_name };
}

/**
 * Adds an author whose email address is not verified.
 * Assumed: until verification, the author is a separate identity with the name they submitted. Someone who uses
 * another person's address is not shown under that person's name and does not learn it.
 */
export async function addUnverifiedShopper(author: Author, accountId: number, context: Context): Promise<Person> {
  return addShopper(author, { accountId, email_key: null }, context);
}

/**
 * Turns an unverified author into the shopper with that address, or merges them into the existing one.
 * @returns the shopper's row ID, which replaces `authorRow`
 */
export async function verifyAuthor(authorRow: number, accountId: number, context: Context): Promise<number> {
  const { transaction } = context;
  const { email } = await transaction
    .selectFrom("users")
    .select("email")
    .where("id", "=", authorRow)
    .executeTakeFirstOrThrow();
  const known = await findShopper(email, accountId, context);
  if (known) {
    if (known.id !== authorRow) await transaction.deleteFrom("users").where("id", "=", authorRow).execute();
    return known.id;
  }
  const email_key = email.toLowerCase();
  await transaction.updateTable("users").set({ email_key }).where("id", "=", authorRow).execute();
  return authorRow;
}

function findShopper(
  email: string,
  accountId: number,
  { transaction }: Pick<Context, "transaction">,
): Promise<Person | undefined> {
  return transaction
    .selectFrom("users")
    .select(personColumns)
    .where("account_id", "=", accountId)
    .where("email_key", "=", email.toLowerCase())
    .executeTakeFirst();
}

async function addShopper(
  { email, display_name }: Author,
  { accountId, email_key }: { readonly accountId: number; readonly email_key: string | null },
  { transaction, nowMs, random }: Context,
): Promise<Person> {
  return transaction
    .insertInto("users")
    .values({
      account_id: accountId,
      email,
      email_key,
      display_name,
      kind: "shopper",
      password_hash: "",
      url: "",
      slug: await findFreeSlug(transaction, shortenName(display_name), random),
      created_at: nowMs,
    })
    .returning(personColumns)
    .executeTakeFirstOrThrow();
}

/**
 * Shortens a name for public display.
 * Source: practice of services of this kind. Assumed: the public name is the first word and the initial of the last
 * word; of an email address, only the part before the @ counts, whose words are separated by punctuation.
 */
export function shortenName(displayName: string): string {
  const words = displayName
    .trim()
    .split(/\s+/)
    .flatMap((word) => (/[^@]@/.test(word) ? word.replace(/^(@*[^@]+)@.*$/, "$1").split(/[.+_-]+/) : word))
    .filter((word) => word !== "");
  const [first = "", last] = [words[0], words.length > 1 ? words.at(-1) : undefined];
  const initial = /[\p{L}\p{N}]/u.exec(last ?? "")?.[0];
  return initial === undefined ? first : `${first} ${initial.toUpperCase()}.`;
}

export function publicName({ kind, display_name }: Pick<Person, "kind" | "display_name">): string {
  return kind === "shopper" ? shortenName(display_name) : display_name;
}

/** The slug to show with a public name. Earlier versions stored slugs of full names. */
export function publicSlug(slug: string, shownName: string): string {
  const base = toSlug(shownName);
  const isOfName = slug.startsWith(base) && /^(?:-[0-9a-f]{8})?$/.test(slug.slice(base.length));
  return isOfName ? slug : base;
}

/** Source: spec "User summary, badge". Assumed: no one has badges or connected accounts, because no operation sets them. */
export function toSummary(person: Person): UserSummary {
  const { id, kind, slug, social_image, bio, score } = person;
  const display_name = publicName(person);
  return {
    id,
    display_name,
    slug: kind === "shopper" ? publicSlug(slug, display_name) : slug,
    social_image,
    is_social_connected: false,
    bio,
    score,
    badges: [],
  };
}
