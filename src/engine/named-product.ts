import { ServiceError } from "../contract/index.ts";
import type { HandlerContext } from "./handler.ts";

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
  const found = await transaction
    .selectFrom("products")
    .select("id")
    .where("account_id", "=", accountId)
    .where("product_id", "=", product.product_id)
    .executeTakeFirst();
  if (found) return found.id;
  const { id } = await transaction
    .insertInto("products")
    .values({ ...product, account_id: accountId, created_at: nowMs, updated_at: nowMs })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** What a call for a product that is not there is told. Source: spec "Questions and answers": found by domain_key. */
export function unknownProduct(productId: string): ServiceError {
  return new ServiceError("recordNotFound", `Couldn't find ProductsApp with domain_key = ${productId}`);
}
