import { sql } from "kysely";
import type { HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction">;

/** Orders that are noted at once, so that no other call waits long. */
const notedAtOnce = 10_000;

const lastNoted = sql`(select coalesce(max(order_row), 0) from order_emails)`;

/**
 * Whether there are orders whose address is not noted yet. It is not noted as orders come: the index by address would
 * slow every import by a tenth and more, for a question that is asked once a review.
 */
export async function hasUnindexedOrders({ transaction }: Context): Promise<boolean> {
  const { rows } = await sql`select id from orders where id > ${lastNoted} limit 1`.execute(transaction);
  return rows.length > 0;
}

/** Notes the addresses of the next orders, of all accounts. */
export async function indexOrderEmails({ transaction }: Context): Promise<void> {
  await sql`
    insert into order_emails (order_row, account_id, email_key)
    select id, account_id, lower(email) from orders where id > ${lastNoted} order by id limit ${sql.lit(notedAtOnce)}
  `.execute(transaction);
}

/**
 * What an address can be noted as: the database knows the small letters of ASCII alone, so that it is looked for in its
 * own form too.
 */
export function emailKeysOf(email: string): readonly string[] {
  return [...new Set([email.toLowerCase(), email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())])];
}

/** Whether an address bought a product of an account; any product where none is named. */
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
