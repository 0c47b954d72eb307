import type { UserSummary } from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { findFreeSlug } from "../kernel/slug.ts";

/** The columns of a user that public answers show. */
export type Person = Pick<
  Row<"users">,
  "id" | "display_name" | "slug" | "social_image" | "bio" | "score" | "kind"
>;

export const personColumns = [
  "users.id",
  "users.display_name",
  "users.slug",
  "users.social_image",
  "users.bio",
  "users.score",
  "users.kind",
] as const;

/** Who writes, as they say themselves. */
export interface Writer {
  readonly email: string;
  readonly display_name: string;
}

type Context = Pick<HandlerContext, "transaction" | "nowMs" | "random">;

/**
 * Finds who an address is known to be of, or adds them.
 * Assumed: a shopper is one verified address of an account, in lower case; the name is that of the first time.
 */
export async function findOrAddShopper(writer: Writer, accountId: number, context: Context): Promise<Person> {
  const found = await findShopper(writer.email, accountId, context);
  return found ?? addWriter(writer, { accountId, email_key: writer.email.toLowerCase() }, context);
}

/**
 * Finds who a proven address is of, or adds them, and calls them as they say.
 * Assumed: whoever has proven an address may name themselves as they like, and is called so with all that they wrote.
 */
export async function findAndRenameShopper(
  writer: Writer,
  accountId: number,
  context: Context,
): Promise<Person> {
  const person = await findOrAddShopper(writer, accountId, context);
  const { display_name } = writer;
  if (person.display_name === display_name) return person;
  await context.transaction.updateTable("users").set({ display_name }).where("id", "=", person.id).execute();
  return { ...person, display_name };
}

/**
 * Adds who wrote something, while nobody knows whether the address is theirs.
 * Assumed: until an address is verified its writer is somebody of their own, with the name that they gave: whoever
 * writes under the address of another is not shown with the other's name, and does not learn it.
 */
export async function addUnverifiedShopper(
  writer: Writer,
  accountId: number,
  context: Context,
): Promise<Person> {
  return addWriter(writer, { accountId, email_key: null }, context);
}

/**
 * Makes an unverified writer the shopper of the address, or gives the one that there is.
 * @returns the id of the shopper's row, which takes the place of the writer's
 */
export async function verifyAuthor(writerRow: number, accountId: number, context: Context): Promise<number> {
  const { transaction } = context;
  const { email } = await transaction
    .selectFrom("users")
    .select("email")
    .where("id", "=", writerRow)
    .executeTakeFirstOrThrow();
  const known = await findShopper(email, accountId, context);
  if (known) {
    if (known.id !== writerRow) await transaction.deleteFrom("users").where("id", "=", writerRow).execute();
    return known.id;
  }
  const email_key = email.toLowerCase();
  await transaction.updateTable("users").set({ email_key }).where("id", "=", writerRow).execute();
  return writerRow;
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

async function addWriter(
  { email, display_name }: Writer,
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
 * A name as everybody may see it.
 * Source: practice of services of this kind. Assumed: of a shopper's name the first word is shown, and the first letter
 * of the last; of an email address that stands for a name the part before the @.
 */
export function shortenName(displayName: string): string {
  const words = displayName
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/^([^@]+)@.*$/, "$1"));
  const [first = "", last] = [words[0], words.length > 1 ? words.at(-1) : undefined];
  const initial = /[\p{L}\p{N}]/u.exec(last ?? "")?.[0];
  return initial === undefined ? first : `${first} ${initial.toUpperCase()}.`;
}

export function publicName({ kind, display_name }: Pick<Person, "kind" | "display_name">): string {
  return kind === "shopper" ? shortenName(display_name) : display_name;
}

/** Source: spec "User summary, badge". Assumed: nobody has badges or connected accounts; no call gives them any. */
export function toSummary(person: Person): UserSummary {
  const { id, slug, social_image, bio, score } = person;
  return {
    id,
    display_name: publicName(person),
    slug,
    social_image,
    is_social_connected: false,
    bio,
    score,
    badges: [],
  };
}
