import { listProducts, listPurchases, listUnsubscribers } from "../../service/listings.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { KindName } from "../types.ts";
import type { PlanBook } from "./plan-tally.ts";

/** Where what an import adds begins. */
export interface Before {
  readonly lastPurchaseId: number;
}

type Load = (service: Service, book: PlanBook, options: CallOptions) => Promise<Before>;

const noPurchases: Before = { lastPurchaseId: 0 };

const loads: Readonly<Partial<Record<KindName, Load>>> = {
  products: async (service, book, options) => {
    for await (const page of listProducts(service, {}, options)) {
      for (const { external_id, name } of page) book.addThere("product", external_id, name);
    }
    return noPurchases;
  },
  orders: async (service, book, options) => {
    let lastPurchaseId = 0;
    for await (const page of listPurchases(service, 0, options)) {
      for (const { id, order_id, product_sku, product_name } of page) {
        book.addThere("order", order_id);
        book.addThere("product", product_sku, product_name);
        lastPurchaseId = Math.max(lastPurchaseId, id);
      }
    }
    return { lastPurchaseId };
  },
  coupons: async (service, book, options) => {
    const { coupons } = await service.coupons.list({}, options);
    for (const { code } of coupons) book.addThere("code", code);
    return noPurchases;
  },
  unsubscribers: async (service, book, options) => {
    for await (const page of listUnsubscribers(service, options)) {
      for (const { email_type_id, user_email } of page) {
        book.addThere("address", `${email_type_id}:${user_email.toLowerCase()}`);
      }
    }
    return noPurchases;
  },
};

/** Writes what the service has of an import's kind into a plan's book. */
export async function loadWhatIsThere(
  kind: KindName,
  service: Service,
  book: PlanBook,
  options: CallOptions,
): Promise<Before> {
  return (await loads[kind]?.(service, book, options)) ?? noPurchases;
}

/** Products that were there and are not as they were. */
export async function countChangedProducts(
  service: Service,
  sinceMs: number,
  options: CallOptions,
): Promise<number> {
  const since = new Date(sinceMs).toISOString();
  let changed = 0;
  for await (const page of listProducts(service, { updated_at_min: since }, options)) {
    changed += page.filter(({ created_at }) => Date.parse(created_at) < sinceMs).length;
  }
  return changed;
}

/** Purchases that orders were given which had been there. */
export async function countPurchasesAdded(
  service: Service,
  { lastPurchaseId }: Before,
  book: PlanBook,
  options: CallOptions,
): Promise<number> {
  let added = 0;
  for await (const page of listPurchases(service, lastPurchaseId, options)) {
    added += page.filter(({ order_id }) => book.isThere("order", order_id)).length;
  }
  return added;
}
