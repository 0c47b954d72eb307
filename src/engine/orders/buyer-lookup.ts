import { sql } from "kysely";
import type { HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction">;

/** Orders indexed per transaction, so that other calls do not wait long. */
const ordersPerBatch = 10_000;

const lastIndexed = sql`(select coalesce(max(order_row), 0) from order_emails)`;

/**
 * Whether there are orders whose email address is not indexed yet. Addresses are not indexed when orders are stored,
 * because that would slow imports by more than 10%, and the index is only needed once per review.
 */
export async function hasUnindexedOrders({ transaction }: Context): Promise<boolean> {
  const { rows } = await sql`select id from orders where id > ${lastIndexed} limit 1`.execute(transaction);
  return rows.length > 0;
}

/** Indexes the email addresses of the next orders, of all accounts. */
export async function indexOrderEmails({ transaction }: Context): Promise<void> {
  await sql`
    insert into order_emails (order_row, account_id, email_key)
    select id, account_id, lower(email) from orders where id > ${lastIndexed} order by id limit ${sql.lit(ordersPerBatch)}
  `.execute(transaction);
}

/**
 * The index keys of an email address. The database only converts ASCII letters to lower case, so non-ASCII addresses
 * have two possible keys.
 */
export function emailKeysOf(email: string): readonly string[] {
  return [...new Set([email.toLowerCase(), email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())])];
}

/** Whether the owner of an email address bought a product, or any product of the account if `productRow` is null. */
export async function hasPurchased(
  {
    accountId,
    email,
    productRow,
  }: { readonly accountId: number; readonly email: string; readonly productRow: number | null },
  { transaction }: Context,
): Promise<boolean> {
  const found = transaction
    .selectFrom("order_emails")
    .innerJoin("purchases", "purchases.order_row", "order_emails.order_row")
    .select("purchases.id")
    .where("order_emails.account_id", "=", accountId)
    .where("order_emails.email_key", "in", emailKeysOf(email))
    .limit(1);
  const bought = productRow === null ? found : found.where("purchases.product_row", "=", productRow);
  return (await bought.executeTakeFirst()) !== undefined;
}
