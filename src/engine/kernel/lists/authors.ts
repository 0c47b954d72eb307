import { type RawBuilder, sql } from "kysely";
import { emailKeyOf } from "../../../contract/index.ts";
import { accountIdOf, type HandlerContext } from "../handler.ts";

/**
 * Whether a person wrote a record. Authors whose address is not verified are users of their own, without a key.
 */
export function isWrittenBy(
  table: "reviews" | "questions",
  email: string,
  context: Pick<HandlerContext, "account" | "ownerId">,
): RawBuilder<boolean> {
  const key = emailKeyOf(email);
  const users = sql`select users.id from users where users.account_id = ${accountIdOf(context)}`;
  return sql`${sql.ref(`${table}.user_row`)} in (
    ${users} and users.email_key = ${key}
    union all ${users} and users.email_key is null and users.address_key = ${key})`;
}
