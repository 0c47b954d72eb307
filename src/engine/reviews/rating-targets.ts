import { type RawBuilder, sql } from "kysely";
import type { HandlerContext } from "../kernel/handler.ts";

/**
 * Rating targets, which reviews are counted for: a product, a product group, or the account's site. They are stored in
 * columns named `shelf`.
 */
export const productTarget = (productRow: number): string => `p${productRow}`;
export const groupTarget = (groupRow: number): string => `g${groupRow}`;
export const siteTarget = (accountId: number): string => `s${accountId}`;
/** The target that counts all reviews of an account. */
export const accountTarget = (accountId: number): string => `a${accountId}`;

/** A product of an account. */
interface ProductKey {
  readonly accountId: number;
  readonly productRow: number;
}

export async function findGroup(
  { accountId, productRow }: ProductKey,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<number | undefined> {
  const found = await transaction
    .selectFrom("group_products")
    .select("group_row")
    .where("account_id", "=", accountId)
    .where("product_row", "=", productRow)
    .executeTakeFirst();
  return found?.group_row;
}

/**
 * SQL of the target that a product's reviews are read from; null if the account has no such product.
 * @param productId the product ID as the store knows it
 */
export function targetOfProduct({
  accountId,
  productId,
}: Readonly<Record<"accountId" | "productId", RawBuilder<unknown>>>) {
  return sql<string>`
    (select case when group_products.group_row is null then 'p' || cast(products.id as text)
      else 'g' || cast(group_products.group_row as text) end
    from products left join group_products
      on group_products.account_id = products.account_id and group_products.product_row = products.id
    where products.account_id = ${accountId} and products.product_id = ${productId})`;
}
