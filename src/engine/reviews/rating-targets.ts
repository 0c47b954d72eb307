import { type RawBuilder, sql } from "kysely";
import { batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import type { HandlerContext } from "../kernel/handler.ts";

/** Rating targets, which reviews are counted for: a product, a product group, or the account's site. */
export const productTarget = (productRow: number): string => `p${productRow}`;
export const groupTarget = (groupRow: number): string => `g${groupRow}`;
export const siteTarget = (accountId: number): string => `s${accountId}`;
/** The target that counts all reviews of an account. */
export const accountTarget = (accountId: number): string => `a${accountId}`;

/** The groups of products: row IDs by the products' row IDs. */
export type ProductGroups = ReadonlyMap<number, number>;

/** Finds the groups of products, by the products' row IDs. */
export async function findGroups(
  productRows: readonly number[],
  accountId: number,
  { transaction, dialect }: Pick<HandlerContext, "transaction" | "dialect">,
): Promise<ProductGroups> {
  if (productRows.length === 0) return new Map();
  const rows = JSON.stringify(productRows.map((row) => [row]));
  const found = await selectGroups(transaction, dialect, { accountId, rows });
  return new Map(found.rows.map(({ product_row, group_row }) => [product_row, group_row]));
}

const selectGroups = createStatement<
  { accountId: number; rows: string },
  Pick<Row<"group_products">, "product_row" | "group_row">
>(
  (slot, dialect) => sql`
    select group_products.product_row, group_products.group_row
    from ${batchOf({ id: "integer" }, slot("rows"), dialect)} cross join group_products
    where group_products.account_id = ${slot("accountId")} and group_products.product_row = batch.id`,
);

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
