import type { OutputOf } from "../service/transport.ts";
import type { Service } from "../service/service.ts";
import type { CallOptions } from "../service/transport.ts";
import { coreListLimit, unsubscriberPageDefault } from "../contract/index.ts";

/** What the service lists, a page at a time: nothing here holds more than one. */
export type Purchase = OutputOf<"orders.list">["purchases"][number];
export type ListedProduct = OutputOf<"core.listProducts">["products"][number];
export type Unsubscriber = OutputOf<"unsubscribers.list">["unsubscribers"][number];

/** Purchases on a page. Source: spec "Limits": 200 recommended. */
const purchasesAPage = 200;

/**
 * Reads all purchases in the order of their ids; with `since`, those that were created from that day on.
 * Assumed: `since_id` may or may not list the purchase of that id itself; the pages overlap by it, and the second is
 * passed over. A page that is not full is the last only where as many came as the service counts, since a service may
 * give fewer than were asked for.
 */
export async function* readPurchases(
  service: Service,
  options: CallOptions,
  since?: Date,
): AsyncGenerator<readonly Purchase[]> {
  const from = since === undefined ? {} : { since_date: since.toISOString().slice(0, 10) };
  let [lastId, count] = [0, 0];
  for (;;) {
    const position = lastId === 0 ? {} : { since_id: lastId };
    const { purchases, total_purchases: total } = await service.orders.list(
      { ...from, ...position, count: purchasesAPage },
      options,
    );
    const found = purchases.filter(({ id }) => id > lastId);
    if (found.length === 0) return;
    yield found;
    count += found.length;
    lastId = found.reduce((most, { id }) => Math.max(most, id), lastId);
    if (purchases.length < purchasesAPage && count >= total) return;
  }
}

/** Reads all products, those changed longest ago first; with `since`, those that changed since. */
export async function* readProducts(
  service: Service,
  options: CallOptions,
  since?: Date,
): AsyncGenerator<readonly ListedProduct[]> {
  const from = since === undefined ? {} : { updated_at_min: since.toISOString() };
  let position = {};
  for (;;) {
    const { products, pagination } = await service.core.listProducts(
      { ...from, ...position, limit: coreListLimit, details: true },
      options,
    );
    if (products.length > 0) yield products;
    const { next_page_info } = pagination;
    if (next_page_info === null || next_page_info === "") return;
    position = { page_info: next_page_info };
  }
}

/**
 * Reads all who are unsubscribed, past the first 5,000.
 * Source: spec "Limits". Assumed: pages count from 1, and behind the last comes an empty one, or the last again.
 */
export async function* readUnsubscribers(
  service: Service,
  options: CallOptions,
): AsyncGenerator<readonly Unsubscriber[]> {
  let before: number | undefined;
  for (let page = 1; ; page++) {
    const { unsubscribers } = await service.unsubscribers.list(
      { count: unsubscriberPageDefault, page },
      options,
    );
    const first = unsubscribers[0]?.id;
    if (first === undefined || first === before) return;
    before = first;
    yield unsubscribers;
  }
}

/** Reads all coupon codes; the service gives them at once. */
export async function* readCoupons(
  service: Service,
  options: CallOptions,
): AsyncGenerator<readonly string[]> {
  const { coupons } = await service.coupons.list({}, options);
  yield coupons.map(({ code }) => code);
}
