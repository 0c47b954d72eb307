import { purchasePage } from "../contract/index.ts";
import { listAll } from "./list-all.ts";
import type { Service } from "./service.ts";
import type { CallOptions, OutputOf } from "./transport.ts";

export type ListedProduct = OutputOf<"core.listProducts">["products"][number];
export type ListedPurchase = OutputOf<"orders.list">["purchases"][number];
export type ListedReview = OutputOf<"reviews.list">["reviews"][number];
export type ListedUnsubscriber = OutputOf<"unsubscribers.list">["unsubscribers"][number];

/** Lists all products, page by page, the least recently changed first. */
export function listProducts(
  service: Pick<Service, "core">,
  query: { readonly updated_at_min?: string; readonly details?: boolean },
  options: CallOptions = {},
): AsyncGenerator<readonly ListedProduct[]> {
  return listAll(service, "core.listProducts", { input: query }, options);
}

/**
 * Lists all purchases with an ID above `afterId`, page by page, by ID.
 * Assumed: services differ in whether a list includes `since_id` itself, so duplicates are dropped. A page may have fewer
 * elements than requested, so a short page is the last only if the service's total has been reached.
 */
export async function* listPurchases(
  { orders }: Pick<Service, "orders">,
  afterId = 0,
  options: CallOptions = {},
  asked: { readonly count?: number; readonly since_date?: string; readonly details?: boolean } = {},
): AsyncGenerator<readonly ListedPurchase[]> {
  const { count = purchasePage.max } = asked;
  let [lastId, got, all] = [afterId, 0, -1];
  for (;;) {
    options.signal?.throwIfAborted();
    const query = { ...asked, count, ...(lastId > 0 && { since_id: lastId }) };
    const { purchases, total_purchases: total } = await orders.list(query, options);
    const fresh = purchases.filter(({ id }) => id > lastId);
    if (fresh.length === 0) return;
    yield fresh;
    lastId = fresh.reduce((most, { id }) => Math.max(most, id), lastId);
    got += fresh.length;
    // Only the total of the first page is used: a service may count only the remaining purchases.
    if (all < 0) all = total;
    if (purchases.length < count && got >= all) return;
  }
}

/** Lists all unsubscribers, page by page, beyond the specification's single page of 5,000. */
export function listUnsubscribers(
  service: Pick<Service, "unsubscribers">,
  options: CallOptions = {},
): AsyncGenerator<readonly ListedUnsubscriber[]> {
  return listAll(service, "unsubscribers.list", { input: {} }, options);
}

/**
 * Lists all elements by page number.
 * Assumed: the first page is 1; the page after the last is empty, or the last page again.
 */
export async function* listByPage<T extends { readonly id: number }>(
  ask: (page: number) => Promise<readonly T[]>,
  { signal }: CallOptions = {},
): AsyncGenerator<readonly T[]> {
  let before: ReadonlySet<number> = new Set();
  for (let page = 1; ; page++) {
    signal?.throwIfAborted();
    const found = await ask(page);
    const fresh = found.filter(({ id }) => !before.has(id));
    if (fresh.length === 0) return;
    yield fresh;
    before = new Set(found.map(({ id }) => id));
  }
}

/** Lists all reviews with an ID above `afterId`, by ID, including unpublished ones. */
export function listReviews(
  service: Pick<Service, "reviews">,
  options: CallOptions = {},
  afterId = 0,
): AsyncGenerator<readonly ListedReview[]> {
  const input = { deleted: true, details: true, ...(afterId > 0 && { since_id: afterId }) };
  return listAll(service, "reviews.list", { input }, options);
}
