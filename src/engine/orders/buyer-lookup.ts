import { sql } from "kysely";
import { emailKeyOf } from "../../contract/index.ts";
import { batchRows } from "../../storage/batch.ts";
import { accountIdOf, type HandlerContext, type Preparation } from "../kernel/handler.ts";
import { hasWebhooks } from "../kernel/outbox.ts";

type Context = Pick<HandlerContext, "transaction" | "account" | "ownerId">;

/** Orders indexed per transaction, so that other calls do not wait long. */
const ordersPerBatch = 10_000;

/** The orders of an account that are not indexed yet. They are found through their purchases, of which each has one. */
const unindexed = (accountId: number) => sql`purchases where account_id = ${accountId}
  and order_row > (select coalesce(max(order_row), 0) from order_emails where account_id = ${accountId})`;

/**
 * Whether the account has orders whose email address is not indexed yet. Addresses are not indexed when orders are stored,
 * because that would slow imports by more than 10%, and the index is only needed once per review.
 */
export async function hasUnindexedOrders(context: Context): Promise<boolean> {
  const accountId = context.account?.id ?? context.ownerId;
  // The handler rejects calls that concern no account.
  if (accountId === undefined) return false;
  const { rows } = await sql`select order_row from ${unindexed(accountId)} limit 1`.execute(context.transaction);
  return rows.length > 0;
}

/** Indexes the email addresses of the account's next orders. */
export async function indexOrderEmails(context: Context & Pick<HandlerContext, "dialect">): Promise<void> {
  const { transaction, dialect } = context;
  const accountId = accountIdOf(context);
  const { rows: orders } = await sql<{ id: number; email: string }>`
    select orders.id, orders.email
    from (select distinct order_row from ${unindexed(accountId)} order by order_row limit ${sql.lit(ordersPerBatch)})
      as listed cross join orders
    where orders.account_id = ${accountId} and orders.id = listed.order_row
  `.execute(transaction);
  const keys = orders.map(({ id, email }) => [id, emailKeyOf(email)]);
  await sql`insert into order_emails (account_id, order_row, email_key)
    select cast(${accountId} as bigint), batch.order_row, batch.email_key
    from ${batchRows({ order_row: "integer", email_key: "text" }, keys, dialect)}`.execute(transaction);
}

/** Indexes all orders before a call that finds them by their email address. */
export const buyerIndex: Preparation = { isDue: hasUnindexedOrders, write: indexOrderEmails };

/** The same for a call that may cause webhook events, which include the order of a review's author. */
export const buyerIndexForWebhooks: Preparation = {
  isDue: async (context) => (await hasWebhooks(context)) && (await hasUnindexedOrders(context)),
  write: indexOrderEmails,
};

/** Whether the owner of an email address bought a product, or any product of the account if `productRow` is null. */
export async function hasPurchased(
  {
    accountId,
    email,
    productRow,
  }: { readonly accountId: number; readonly email: string; readonly productRow: number | null },
  { transaction }: Pick<Context, "transaction">,
): Promise<boolean> {
  const found = transaction
    .selectFrom("order_emails")
    .innerJoin("purchases", (join) =>
      join
        .onRef("purchases.account_id", "=", "order_emails.account_id")
        .onRef("purchases.order_row", "=", "order_emails.order_row"),
    )
    .select("purchases.id")
    .where("order_emails.account_id", "=", accountId)
    .where("order_emails.email_key", "=", emailKeyOf(email))
    .limit(1);
  const bought = productRow === null ? found : found.where("purchases.product_row", "=", productRow);
  return (await bought.executeTakeFirst()) !== undefined;
}
