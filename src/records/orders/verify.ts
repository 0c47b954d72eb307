import {
  lineColumns,
  orderFields,
  type OrderHead,
  type ProductField,
  productFields,
  purchasePage,
  type RecordField,
} from "../../contract/index.ts";
import type { Item } from "../../import/item.ts";
import * as comparable from "../../import/verify/comparable.ts";
import {
  type ExpectedRecord,
  joinKey,
  type StoredRecord,
  type StoredRecords,
} from "../../import/verify/stored-records.ts";
import { type ListedPurchase, listPurchases } from "../../service/listings.ts";
import type { WireProduct } from "./line-item.ts";

type OrderPayload = OrderHead & { readonly products: Readonly<Record<string, WireProduct>> };

/** Keys of the records that purchases share. An order ID has no line break, so they differ from those of purchases. */
const orderKey = (orderId: string) => joinKey("", "", orderId);
const productKey = (productId: string) => joinKey("", productId);

/**
 * Orders, their products, and the purchases. If several rows name the same product, each needs its share of the units:
 * if fewer are stored, the later rows are the missing ones. The values of the order belong to its first row, and the
 * prices of the units to the first row that names the product. Each row is compared with the product that it names.
 */
export const storedOrders: StoredRecords = {
  *expected({ key, parts = [], payload, rows }: Item): Generator<ExpectedRecord> {
    const order = payload as OrderPayload;
    const { products } = order;
    const [first] = parts;
    const [row] = rows;
    if (row) {
      const names = { order_id: key, product_id: first?.id ?? "" };
      const values = [valuesOfOrder(order)];
      yield { key: orderKey(key), needs: 0, of: 1, row, field: "order_id", names, values };
    }
    const rowCounts = new Map<string, number>();
    for (const { id } of parts) rowCounts.set(id, (rowCounts.get(id) ?? 0) + 1);
    const ordinals = new Map<string, number>();
    for (const { id, row: own, record } of parts) {
      const ordinal = (ordinals.get(id) ?? 0) + 1;
      ordinals.set(id, ordinal);
      const product = products[id];
      const of = product?.quantity ?? 1;
      const needs = Math.ceil((of * ordinal) / (rowCounts.get(id) ?? 1));
      const names = { order_id: key, product_id: id };
      const common = { row: own, part: id, field: "product_id", names };
      const isFirst = ordinal === 1 && product !== undefined;
      yield { key: joinKey(key, id), needs, of, ...common, ...(isFirst && { values: pricesOf(product) }) };
      const values = [valuesOfProduct(record as WireProduct)];
      yield { key: productKey(id), needs: 0, of: 1, ...common, values, isEachCompared: true };
    }
  },
  list: async function* (service, options, since) {
    const query = {
      count: purchasePage.recommended,
      details: true,
      ...(since && { since_date: since.toISOString().slice(0, 10) }),
    };
    for await (const page of listPurchases(service, 0, options, query)) yield toRecords(page);
  },
  canNarrow: true,
};

/** Fields of orders, and those of products by the columns of line items. A product's price is compared by unit. */
const ownFields = Object.entries<RecordField>(orderFields);
const lineFields = Object.entries(lineColumns).flatMap(([column, name]) => {
  const field: ProductField = productFields[name];
  return field.type === "price" ? [] : [{ column, name: field.inOrder?.name ?? name, field }];
});

function valuesOfOrder(order: Readonly<Record<string, unknown>>): comparable.Values {
  return Object.fromEntries(ownFields.map(([name, field]) => [name, comparable.sentValue(order[name], field)]));
}

/** The price of each unit, which is unknown for units without one. */
function pricesOf({ quantity = 1, price, unit_prices = [] }: WireProduct): comparable.Values[] {
  return Array.from({ length: quantity }, (_, unit) => ({
    product_price: comparable.price(unit in unit_prices ? unit_prices[unit] : price) ?? undefined,
  }));
}

function valuesOfProduct(product: WireProduct): comparable.Values {
  const values: Readonly<Record<string, unknown>> = { ...product, ...product.specs };
  // Line items erase nothing.
  const sent = lineFields.map(({ column, name, field: { type, isSpec } }) => {
    return [column, comparable.sentValue(values[name], { type, ...(isSpec && { isSpec }) })];
  });
  return Object.fromEntries(sent);
}

/** The records of a page. Orders and products are repeated on later pages, but not on the same one. */
function toRecords(purchases: readonly ListedPurchase[]): StoredRecord[] {
  const shared = new Map<string, comparable.Values>();
  const units = purchases.map((purchase): StoredRecord => {
    const { order_id, product_sku, product_price } = purchase;
    const listed: Readonly<Record<string, unknown>> = purchase;
    const own = ownFields.map(([name, field]) => [name, comparable.storedValue(listed[field.listedAs ?? name], field)]);
    shared.set(orderKey(order_id), Object.fromEntries(own));
    const line = lineFields.map(({ column, field }) => [column, comparable.storedValue(listed[column], field)]);
    shared.set(productKey(product_sku), Object.fromEntries(line));
    return { key: joinKey(order_id, product_sku), values: { product_price: comparable.price(product_price) } };
  });
  return [...[...shared].map(([key, values]) => ({ key, values, isShared: true })), ...units];
}
