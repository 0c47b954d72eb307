import { sql } from "kysely";
import { emailKeyOf } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountIdOf, type HandlerContext } from "../kernel/handler.ts";

/** Where the records of a customer are, by row ID. */
export interface Person {
  readonly accountId: number;
  /** As given. */
  readonly email: string;
  readonly key: string;
  /** The address as given, as stored, and its key, in lower case, as converted by this program and by the database. */
  readonly spellings: readonly string[];
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
  const key = emailKeyOf(email);
  const orders = await selectAccountRows("order_emails", accountId, context.transaction)
    .select("order_row")
    .where("email_key", "=", key)
    .orderBy("order_row", "desc")
    .execute();
  const users = await findUsers(accountId, key, context);
  return {
    accountId,
    email,
    key,
    spellings: await findSpellings({ accountId, email, key }, context),
    userRows: users.map(({ id }) => id),
    names: users.map(({ display_name }) => display_name),
    slugs: users.map(({ slug }) => slug),
    orderRows: orders.map(({ order_row }) => order_row),
  };
}

/** Authors whose address is not verified have no key. */
async function findUsers(accountId: number, key: string, { transaction }: Context) {
  const users = selectAccountRows("users", accountId, transaction)
    .select(["id", "display_name", "slug"])
    .where("kind", "=", "shopper");
  const verified = await users.where("email_key", "=", key).execute();
  const others = await users.where("email_key", "is", null).where("address_key", "=", key).execute();
  return [...verified, ...others];
}

async function findSpellings(
  { accountId, email, key }: Pick<Person, "accountId" | "email" | "key">,
  { transaction }: Context,
): Promise<string[]> {
  const ofPerson = sql`account_id = ${accountId} and email_key = ${key}`;
  const { rows } = await sql<{ email: string }>`
    select email from mails where ${ofPerson}
    union select email from unsubscribers where ${ofPerson}
    union select user_email from missed_products where ${ofPerson}
    union select issued_to from coupons where ${ofPerson}
    union select email from users where ${ofPerson}
    union select email from users where account_id = ${accountId} and email_key is null and address_key = ${key}
    union select orders.email from order_emails cross join orders
      where order_emails.account_id = ${accountId} and order_emails.email_key = ${key}
        and orders.account_id = ${accountId} and orders.id = order_emails.order_row`.execute(transaction);
  const found = [email, key, ...rows.map((row) => row.email)];
  // SQLite only converts ASCII letters.
  const toLower = (text: string) => [
    text.toLowerCase(),
    text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()),
  ];
  return [...new Set(found.flatMap(toLower))];
}
