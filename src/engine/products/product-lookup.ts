import { ServiceError, recordNotFound } from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";

/** A product as described by a review or a question. */
export interface ProductDescription {
  readonly product_id: string;
  readonly name: string;
  readonly url: string;
  readonly image_url: string | null;
  readonly description: string | null;
  readonly product_tags: string | null;
}

/**
 * Finds a product, or adds it.
 * Assumed: a review or a question adds a product that does not exist, but never changes an existing one.
 * @param isByStore whether the store vouches for the description; otherwise, no email to a visitor contains it
 * @returns the product's row ID
 */
export async function findOrAddProduct(
  product: ProductDescription,
  isByStore: boolean,
  context: HandlerContext,
): Promise<number> {
  const { transaction, nowMs } = context;
  const { id: accountId } = accountOf(context);
  const found = await findProduct(product.product_id, { transaction, accountId });
  if (found !== undefined) return found;
  const { id } = await transaction
    .insertInto("products")
    .values({
      ...product,
      account_id: accountId,
      named_by_visitor: isByStore ? 0 : 1,
      created_at: nowMs,
      updated_at: nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Finds the name and URL of a product for an email to a visitor, unless a visitor stated them. */
export async function findStoreProduct(
  productRow: number,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<Pick<ProductDescription, "name" | "url"> | undefined> {
  return transaction
    .selectFrom("products")
    .select(["name", "url"])
    .where("id", "=", productRow)
    .where("named_by_visitor", "=", 0)
    .executeTakeFirst();
}

/** Finds the row ID of a product by the store's product ID. */
export async function findProduct(
  productId: string,
  { transaction, accountId }: Pick<HandlerContext, "transaction"> & { readonly accountId: number },
): Promise<number | undefined> {
  const found = await transaction
    .selectFrom("products")
    .select("id")
    .where("account_id", "=", accountId)
    .where("product_id", "=", productId)
    .executeTakeFirst();
  return found?.id;
}

/**
 * Finds the row ID of a product of the call's account.
 * @throws ServiceError `recordNotFound`
 */
export async function requireProduct(productId: string, context: HandlerContext): Promise<number> {
  const { transaction } = context;
  const found = await findProduct(productId, { transaction, accountId: accountOf(context).id });
  if (found === undefined) throw unknownProduct(productId);
  return found;
}

/** The error for a product that does not exist. Source: spec "Questions and answers": products are found by domain_key. */
export function unknownProduct(productId: string): ServiceError {
  return recordNotFound("ProductsApp", "domain_key", productId);
}
