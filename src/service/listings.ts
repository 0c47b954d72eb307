import { coreListLimit, purchasePage, reviewsAPage, unsubscriberPageDefault } from "../contract/index.ts";
import type { Service } from "./service.ts";
import type { CallOptions, OutputOf } from "./transport.ts";

export type ListedProduct = OutputOf<"core.listProducts">["products"][number];
export type ListedPurchase = OutputOf<"orders.list">["purchases"][number];
export type ListedReview = OutputOf<"reviews.list">["reviews"][number];
export type ListedUnsubscriber = OutputOf<"unsubscribers.list">["unsubscribers"][number];

/**
 * Every product, page by page, those changed longest ago first.
 * Assumed: an empty cursor, like none, says that the page is the last.
 */
export async function* listProducts(
  { core }: Pick<Service, "core">,
  query: { readonly updated_at_min?: string; readonly details?: boolean },
  options: CallOptions = {},
): AsyncGenerator<readonly ListedProduct[]> {
  for (let page: { page_info?: string } | undefined = {}; page !== undefined;) {
    options.signal?.throwIfAborted();
    const found: OutputOf<"core.listProducts"> = await core.listProducts(
      { ...query, ...page, limit: coreListLimit },
      options,
    );
    if (found.products.length > 0) yield found.products;
    const next: string | null = found.pagination.next_page_info;
    page = next === null || next === "" ? undefined : { page_info: next };
  }
}

/**
 * Every purchase with an id above `afterId`, page by page, by id.
 * Assumed: where a list begins at `since_id` itself or behind it differs between services, so that what comes twice is
 * dropped here. A page that is not full is the last only where as many came as the service counts, since a service may
 * give fewer than were asked for.
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
    lastId = Math.max(...fresh.map(({ id }) => id));
    got += fresh.length;
    // The first page's number counts: a service may count only what is still to come.
    if (all < 0) all = total;
    if (purchases.length < count && got >= all) return;
  }
}

/** Everybody who is unsubscribed, page by page: the specification's one page of 5,000 and what is behind it. */
export function listUnsubscribers(
  { unsubscribers }: Pick<Service, "unsubscribers">,
  options: CallOptions = {},
): AsyncGenerator<readonly ListedUnsubscriber[]> {
  const count = unsubscriberPageDefault;
  return listByPage(
    async (page) => (await unsubscribers.list({ count, page }, options)).unsubscribers,
    options,
  );
}

/**
 * Reads a list by numbered pages.
 * Assumed: pages count from 1, and behind the last comes an empty one, or the last again.
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

/** Every review with an id above `afterId`, by id, those that are off the pages too. Assumed: as of purchases. */
export async function* listReviews(
  { reviews }: Pick<Service, "reviews">,
  options: CallOptions = {},
  afterId = 0,
): AsyncGenerator<readonly ListedReview[]> {
  for (let lastId = afterId; ;) {
    options.signal?.throwIfAborted();
    const query = { count: reviewsAPage, deleted: true, details: true };
    const { reviews: found } = await reviews.list(
      { ...query, ...(lastId > 0 && { since_id: lastId }) },
      options,
    );
    const fresh = found.filter(({ id }) => id > lastId);
    if (fresh.length === 0) return;
    yield fresh;
    lastId = Math.max(...fresh.map(({ id }) => id));
  }
}
