import { type RawBuilder, sql } from "kysely";
import { accountIdOf, type HandlerContext } from "../handler.ts";

/**
 * The index keys of an email address. The database only converts ASCII letters to lower case, so non-ASCII addresses
 * have two possible keys.
 */
export function emailKeysOf(email: string): readonly string[] {
  return [...new Set([email.toLowerCase(), email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())])];
}

/**
 * Whether a person wrote a record. Authors whose address is not verified are users of their own, without a key.
 */
export function isWrittenBy(
  table: "reviews" | "questions",
  email: string,
  context: Pick<HandlerContext, "account" | "ownerId">,
): RawBuilder<boolean> {
  const users = sql`select users.id from users where users.account_id = ${accountIdOf(context)}`;
  return sql`${sql.ref(`${table}.user_row`)} in (
    ${users} and users.email_key = ${email.toLowerCase()}
    union all ${users} and users.email_key is null and lower(users.email) in (${sql.join(emailKeysOf(email))}))`;
}
