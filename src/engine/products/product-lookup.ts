import { ServiceError, recordNotFound } from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";

/** A product as a review or a question names it. */
export interface NamedProduct {
  readonly product_id: string;
  readonly name: string;
  readonly url: string;
  readonly image_url: string | null;
  readonly description: string | null;
  readonly product_tags: string | null;
}

/**
 * Finds a product, or adds it.
 * Assumed: a review or a question adds a product that is not there, and changes none that is.
 * @returns its row's id
 */
export async function findOrAddProduct(
  product: NamedProduct,
  accountId: number,
  { transaction, nowMs }: HandlerContext,
): Promise<number> {
  const found = await findProduct(product.product_id, { transaction, accountId });
  if (found !== undefined) return found;
  const { id } = await transaction
    .insertInto("products")
    .values({ ...product, account_id: accountId, created_at: nowMs, updated_at: nowMs })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** The row of a product, by the store's own id of it. */
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
 * The row of a product of the call's account.
 * @throws ServiceError `recordNotFound`
 */
export async function requireProduct(productId: string, context: HandlerContext): Promise<number> {
  const { transaction } = context;
  const found = await findProduct(productId, { transaction, accountId: accountOf(context).id });
  if (found === undefined) throw unknownProduct(productId);
  return found;
}

/** What a call for a product that is not there is told. Source: spec "Questions and answers": found by domain_key. */
export function unknownProduct(productId: string): ServiceError {
  return recordNotFound("ProductsApp", "domain_key", productId);
}
