import { sql } from "kysely";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountIdOf, type HandlerContext } from "../kernel/handler.ts";
import { emailKeysOf } from "../kernel/lists/authors.ts";

/** Where the records of a customer are, by row ID. */
export interface Person {
  readonly accountId: number;
  /** As given. */
  readonly email: string;
  /** The address in lower case, as converted by this program and by the database. */
  readonly keys: readonly string[];
  /** The customer's identities: one if the address is verified, and one for each text that was not. */
  readonly userRows: readonly number[];
  /** The names of the identities. */
  readonly names: readonly string[];
  /** Made of the names under which the customer is shown. */
  readonly slugs: readonly string[];
  readonly orderRows: readonly number[];
}

type Context = Pick<HandlerContext, "transaction" | "account" | "ownerId">;

/** Finds a customer by email address. Addresses of orders must be indexed. */
export async function findPerson(email: string, context: Context): Promise<Person> {
  const accountId = accountIdOf(context);
  const keys = emailKeysOf(email);
  const orders = await selectAccountRows("order_emails", accountId, context.transaction)
    .select("order_row")
    .where("email_key", "in", keys)
    .orderBy("order_row", "desc")
    .execute();
  const users = await findUsers(accountId, keys, context);
  return {
    accountId,
    email,
    keys,
    userRows: users.map(({ id }) => id),
    names: users.map(({ display_name }) => display_name),
    slugs: users.map(({ slug }) => slug),
    orderRows: orders.map(({ order_row }) => order_row),
  };
}

/** Authors whose address is not verified have no key. */
async function findUsers(accountId: number, keys: readonly string[], { transaction }: Context) {
  const users = selectAccountRows("users", accountId, transaction)
    .select(["id", "display_name", "slug"])
    .where("kind", "=", "shopper");
  const verified = await users.where("email_key", "in", keys).execute();
  const others = await users
    .where("email_key", "is", null)
    .where(sql<string>`lower(email)`, "in", keys)
    .execute();
  return [...verified, ...others];
}
