import { type OrderHead, purchasePage, specNames } from "../../contract/index.ts";
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
 * if fewer are stored, the later rows are the missing ones. The values of the order belong to its first row, and those
 * of a product to the first row that names it.
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
    for (const { id, row: own } of parts) {
      const ordinal = (ordinals.get(id) ?? 0) + 1;
      ordinals.set(id, ordinal);
      const product = products[id];
      const of = product?.quantity ?? 1;
      const needs = Math.ceil((of * ordinal) / (rowCounts.get(id) ?? 1));
      const names = { order_id: key, product_id: id };
      const common = { row: own, part: id, field: "product_id", names };
      const isFirst = ordinal === 1 && product !== undefined;
      yield { key: joinKey(key, id), needs, of, ...common, ...(isFirst && { values: pricesOf(product) }) };
      if (isFirst) yield { key: productKey(id), needs: 0, of: 1, ...common, values: [valuesOfProduct(product)] };
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

function valuesOfOrder({
  email,
  customer_name,
  order_date,
  currency_iso,
  user_reference,
}: OrderHead): comparable.Values {
  return {
    email: comparable.email(email),
    customer_name: comparable.sentText(customer_name),
    order_date: comparable.day(order_date),
    currency_iso: comparable.sentText(currency_iso),
    user_reference: comparable.sentText(user_reference),
  };
}

/** The price of each unit, which is unknown for units without one. */
function pricesOf({ quantity = 1, price, unit_prices = [] }: WireProduct): comparable.Values[] {
  return Array.from({ length: quantity }, (_, unit) => ({
    product_price: comparable.price(unit in unit_prices ? unit_prices[unit] : price) ?? undefined,
  }));
}

function valuesOfProduct({ name, url, image, description, product_tags: tags, specs }: WireProduct): comparable.Values {
  return {
    product_name: comparable.sentText(name),
    product_url: comparable.sentText(url),
    product_image: comparable.sentText(image),
    product_description: comparable.sentText(description),
    product_tags: comparable.sentText(tags as string),
    ...Object.fromEntries(specNames.map((spec) => [spec, comparable.sentSpec(specs?.[spec] as string)])),
  };
}

/** The records of a page. Orders and products are repeated on later pages, but not on the same one. */
function toRecords(purchases: readonly ListedPurchase[]): StoredRecord[] {
  const shared = new Map<string, comparable.Values>();
  const units = purchases.map((purchase): StoredRecord => {
    const { order_id, product_sku, product_price } = purchase;
    shared.set(orderKey(order_id), {
      email: comparable.email(purchase.user_email),
      customer_name: comparable.text(purchase.user_name),
      order_date: comparable.day(purchase.order_date),
      currency_iso: comparable.text(purchase.currency_iso),
      user_reference: comparable.text(purchase.user_reference),
    });
    shared.set(productKey(product_sku), {
      product_name: comparable.text(purchase.product_name),
      product_url: comparable.text(purchase.product_url),
      product_image: comparable.text(purchase.product_image),
      product_description: comparable.text(purchase.product_description),
      product_tags: comparable.text(purchase.product_tags),
      ...Object.fromEntries(specNames.map((spec) => [spec, comparable.text(purchase[spec])])),
    });
    return { key: joinKey(order_id, product_sku), values: { product_price: comparable.price(product_price) } };
  });
  return [...[...shared].map(([key, values]) => ({ key, values, isShared: true })), ...units];
}
