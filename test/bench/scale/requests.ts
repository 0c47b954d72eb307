import type { Request } from "autocannon";
import type { Account } from "./cluster.ts";

/** The products of each account in a benchmark. */
export const products = 100;

let created = 0;

/** Requests that create one new order each, for the given accounts in turn, starting with one of them. */
export function orderRequests(accounts: readonly Account[], first: number): Request[] {
  return rotate(accounts, first).map(({ appKey, utoken }) => ({
    method: "POST",
    path: `/apps/${appKey}/purchases`,
    headers: { "content-type": "application/json" },
    setupRequest: (request) => ({ ...request, body: JSON.stringify({ utoken, ...anOrder(++created) }) }),
  }));
}

/** An order of today, so that its review-request emails are due later. */
export function anOrder(at: number): Record<string, unknown> {
  const product = { name: "Product", url: "https://shop.example/p", image: "", price: "10.00" };
  return {
    platform: "general",
    email: `buyer${at}@mail.example`,
    customer_name: `Buyer ${at}`,
    order_id: `bench-${at}`,
    order_date: new Date().toISOString().slice(0, 10),
    validate_data: true,
    products: { [productId(at)]: product },
  };
}

export function productId(at: number): string {
  return `p${1 + (at % products)}`;
}

/** Requests for the first reviews of each product of each account in turn. */
export function widgetRequests(accounts: readonly Account[], first: number): Request[] {
  const all = Array.from({ length: products }, (_, at) =>
    accounts.map(({ appKey }) => ({
      method: "GET" as const,
      path: `/v1/widget/${appKey}/products/${productId(at)}/reviews.json`,
    })),
  );
  return rotate(all.flat(), first);
}

/** A review, by a shopper of its own. */
export function aReview(at: number): Record<string, unknown> {
  return {
    sku: productId(at),
    product_title: `Product ${at % products}`,
    product_url: "https://shop.example/p",
    display_name: `Buyer ${at}`,
    email: `buyer${at}@mail.example`,
    review_title: "Works as described",
    review_content: "It does what it says, came in time, and was well packed. ".repeat(1 + (at % 6)),
    review_score: 1 + ((at * 7) % 5),
  };
}

function rotate<T>(values: readonly T[], by: number): T[] {
  const at = by % values.length;
  return [...values.slice(at), ...values.slice(0, at)];
}
