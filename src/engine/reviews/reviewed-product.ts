import type * as z from "zod";
import type { contract } from "../../contract/index.ts";
import type { ProductDescription } from "../products/product-lookup.ts";

export type NewReview = z.output<typeof contract.reviews.createNow.input>;

/** The description of the product that a new review names. */
export function describeProduct(input: NewReview): ProductDescription {
  return {
    product_id: input.sku,
    name: input.product_title,
    url: input.product_url ?? "",
    image_url: input.product_image_url || null,
    description: input.product_description || null,
    product_tags: null,
  };
}
