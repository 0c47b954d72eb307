import { purchasePage } from "../../contract/index.ts";
import type { Item } from "../../import/item.ts";
import { type ExpectedRecord, joinKey, type StoredRecords } from "../../import/verify/stored-records.ts";
import { listPurchases } from "../../service/listings.ts";

interface OrderedProducts {
  readonly products: Readonly<Record<string, { readonly quantity?: number | undefined }>>;
}

/**
 * The products of orders. If several rows name the same product, each needs its share of the units: if fewer are
 * stored, the later rows are the missing ones.
 */
export const storedOrders: StoredRecords = {
  *expected({ key, parts = [], payload }: Item): Generator<ExpectedRecord> {
    const { products } = payload as OrderedProducts;
    const rowCounts = new Map<string, number>();
    for (const { id } of parts) rowCounts.set(id, (rowCounts.get(id) ?? 0) + 1);
    const ordinals = new Map<string, number>();
    for (const { id, row } of parts) {
      const ordinal = (ordinals.get(id) ?? 0) + 1;
      ordinals.set(id, ordinal);
      const of = products[id]?.quantity ?? 1;
      const needs = Math.ceil((of * ordinal) / (rowCounts.get(id) ?? 1));
      const names = { order_id: key, product_id: id };
      yield { key: joinKey(key, id), needs, of, row, part: id, field: "product_id", names };
    }
  },
  list: async function* (service, options, since) {
    const query = {
      count: purchasePage.recommended,
      ...(since && { since_date: since.toISOString().slice(0, 10) }),
    };
    for await (const page of listPurchases(service, 0, options, query)) {
      yield page.map(({ order_id, product_sku }) => joinKey(order_id, product_sku));
    }
  },
  canNarrow: true,
};
