import type { InputOf } from "../../src/service/transport.ts";

type BulkOrders = InputOf<"orders.massCreate">;
type Fields = Record<string, unknown>;

/** Returns a product that is valid for every operation. */
export function aProduct(fields: Fields = {}): Fields {
  return { name: "Teapot", url: "https://shop.example/teapot", ...fields };
}

/** Returns a product of an order that passes strict validation. */
export function anOrderedProduct(fields: Fields = {}): Fields {
  return aProduct({ image: "", ...fields });
}

export function anOrder(fields: Fields = {}): BulkOrders["orders"][number] {
  return {
    email: "ann@mail.example",
    customer_name: "Ann",
    order_id: "1001",
    order_date: "2026-03-01",
    products: { teapot: anOrderedProduct() },
    ...fields,
  };
}

/** Returns the input of `orders.massCreate`. */
export function bulkOrders(orders: BulkOrders["orders"], fields: Partial<BulkOrders> = {}): BulkOrders {
  return { platform: "general", orders, ...fields };
}

/** Returns a review that is valid for both operations that create reviews. */
export function aReview(fields: Partial<InputOf<"reviews.createNow">> = {}): InputOf<"reviews.create"> {
  return {
    sku: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    display_name: "Ann",
    email: "ann@mail.example",
    review_content: "It pours very well.",
    review_title: "Pours well",
    review_score: 5,
    ...fields,
  } as InputOf<"reviews.create">;
}
