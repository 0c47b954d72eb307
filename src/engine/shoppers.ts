import type { UserSummary } from "../contract/index.ts";
import type { Row } from "../storage/tables.ts";
import type { HandlerContext } from "./handler.ts";
import { findFreeSlug } from "./slug.ts";

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

/**
 * Finds who writes under an address, or adds them.
 * Assumed: a shopper is one address of an account, in lower case; the name is that of the first time.
 */
export async function findOrAddShopper(
  { email, display_name }: { readonly email: string; readonly display_name: string },
  accountId: number,
  { transaction, nowMs, random }: Pick<HandlerContext, "transaction" | "nowMs" | "random">,
): Promise<Person> {
  const email_key = email.toLowerCase();
  const found = await transaction
    .selectFrom("users")
    .select(personColumns)
    .where("account_id", "=", accountId)
    .where("email_key", "=", email_key)
    .executeTakeFirst();
  if (found) return found;
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
 * Source: practice of services of this kind. Assumed: of a shopper's name the first word is shown, and the first letter of the last.
 */
export function shortenName(displayName: string): string {
  const words = displayName.trim().split(/\s+/);
  const [first = "", last] = [words[0], words.length > 1 ? words.at(-1) : undefined];
  const initial = last === undefined ? undefined : [...last][0];
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
