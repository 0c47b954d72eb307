import {
  type FieldError,
  inColumnOrder,
  maxQuantity,
  orderFields,
  type OrderHead,
  type Platform,
} from "../../contract/index.ts";
import type { MissedLine } from "../products/product-check.ts";
import { isSameRow, type ProductRow } from "../products/product-row.ts";

/** The properties that a call specifies for all of its orders. */
export interface OrderSource {
  readonly platform: Platform;
  /** Whether customers receive review requests. */
  readonly sendsMail: boolean;
}

/** A line item of an order: a product, and the units of it. */
export interface OrderItem {
  readonly product: ProductRow;
  readonly price: string | null;
  /** Absent if the caller did not specify it, which means 1 for a new line item. */
  readonly quantity?: number | undefined;
  /** Prices of the first units, if they differ. */
  readonly unitPrices?: readonly (string | null)[] | undefined;
}

/** What is not stored of an order, and why. */
export interface OrderProblems {
  /** As sent; null if it is not text. */
  readonly orderId: string | null;
  /** If there are any, the order is rejected. */
  readonly errors: readonly FieldError[];
  /** The invalid product IDs and optional fields of an order that is not rejected. */
  readonly dropped: readonly FieldError[];
  /** The lines with invalid product IDs, which are skipped. Absent if every ID is valid. */
  readonly missed?: readonly MissedLine[] | undefined;
}

/** An order that was checked. */
export interface CheckedOrder extends OrderProblems {
  /** Absent if the order is rejected. */
  readonly head?: OrderHead | undefined;
  /** The valid products. An order without any is not created. */
  readonly items: readonly OrderItem[];
}

/** The ID is first, so that a batch of orders is also one of IDs. */
export const orderFieldNames = Object.keys(inColumnOrder(orderFields)) as (keyof typeof orderFields)[];

/** The columns of an order as it is stored; the date is null if it is not specified. */
export const orderColumns = [...orderFieldNames, "platform", "sends_mail"] as const;

/** The values of `orderColumns`, and the number of the order's units. */
export type OrderRow = readonly (string | number | null)[];

/**
 * A unit of a line item, the position of the product, and 1 if the caller specified the quantity. The unit 0 stands for a
 * line item that is removed.
 */
export type UnitRow = readonly [
  order_id: string,
  product_id: string,
  unit: number,
  price: string | null,
  product?: number,
  isCounted?: 1,
];

/**
 * The orders of one or several calls, checked, as rows that statements read as JSON. All that is stored of orders takes this
 * form; it is plain data, so that another thread can check what this one stores.
 */
export interface OrderRows {
  /** The number of orders in the calls. */
  readonly count: number;
  readonly unitCount: number;
  /** Whether an order ID occurs twice, or an order has invalid product IDs or removes products. */
  readonly needsMerge: boolean;
  readonly sendsMail: boolean;
  /** JSON: an `OrderRow` for each order that is not rejected, in order. */
  readonly orders: string;
  /** JSON: the `UnitRow`s of these orders, in order. */
  readonly units: string;
  /** The products of the units: a list of `ProductRow`, or its JSON. If a product has several, later ones take precedence. */
  readonly products: readonly ProductRow[] | string;
  /** By the position of the order in the calls; absent for orders that are stored completely. */
  readonly problems: ReadonlyMap<number, OrderProblems>;
}

const mostUnits = maxQuantity;
const dateIndex = orderFieldNames.indexOf("order_date");
const [platformIndex, sendsMailIndex, unitCountIndex] = [
  orderFieldNames.length,
  orderFieldNames.length + 1,
  orderFieldNames.length + 2,
];

/** Collects the rows of checked orders. */
export class OrderRowCollector {
  readonly #orders: OrderRow[] = [];
  readonly #units: UnitRow[] = [];
  readonly #products: ProductRow[] = [];
  readonly #problems = new Map<number, OrderProblems>();
  readonly #orderIds = new Set<string>();
  /** The position of the last row of each product. */
  readonly #lastRows = new Map<string, number>();
  #count = 0;
  #needsMerge = false;
  #sendsMail = false;

  add({ orderId, head, items, errors, dropped, missed }: CheckedOrder, source: OrderSource): void {
    const position = this.#count++;
    if (errors.length > 0 || dropped.length > 0 || missed) {
      this.#problems.set(position, { orderId, errors, dropped, missed });
    }
    if (!head) return;
    const before = this.#units.length;
    for (const item of items) this.#addUnits(head.order_id, item);
    const row = orderFieldNames.map((name) => head[name] || null) as (string | number | null)[];
    if (head.order_date) row[dateIndex] = Date.parse(head.order_date);
    row.push(source.platform, Number(source.sendsMail), this.#units.length - before);
    this.#orders.push(row);
    this.#orderIds.add(head.order_id);
    this.#needsMerge ||= items.length === 0 || missed !== undefined;
    this.#sendsMail ||= source.sendsMail;
  }

  #addUnits(orderId: string, { product, price, quantity, unitPrices }: OrderItem): void {
    const position = this.#positionOf(product);
    if (quantity === undefined) {
      const own = unitPrices && unitPrices.length > 0 ? (unitPrices[0] ?? null) : price;
      this.#units.push([orderId, product[0], 1, own, position]);
      return;
    }
    // Capped, because input that was already validated is not validated again.
    const count = Math.min(quantity, mostUnits);
    if (count === 0) {
      this.#needsMerge = true;
      this.#units.push([orderId, product[0], 0, null, position, 1]);
    }
    for (let unit = 1; unit <= count; unit++) {
      const own = unitPrices && unit <= unitPrices.length ? (unitPrices[unit - 1] ?? null) : price;
      this.#units.push([orderId, product[0], unit, own, position, 1]);
    }
  }

  #positionOf(product: ProductRow): number {
    const last = this.#lastRows.get(product[0]);
    if (last !== undefined && isSameRow(this.#products[last] as ProductRow, product)) return last;
    this.#lastRows.set(product[0], this.#products.length);
    return this.#products.push(product) - 1;
  }

  finish(): OrderRows {
    return {
      count: this.#count,
      unitCount: this.#units.length,
      needsMerge: this.#needsMerge || this.#orderIds.size < this.#orders.length,
      sendsMail: this.#sendsMail,
      orders: JSON.stringify(this.#orders),
      units: JSON.stringify(this.#units),
      products: this.#products,
      problems: this.#problems,
    };
  }
}

export function readProductRows({ products }: OrderRows): readonly ProductRow[] {
  return typeof products === "string" ? (JSON.parse(products) as ProductRow[]) : products;
}

/** Units of a product in an order. */
export interface SentItem {
  readonly product: ProductRow;
  readonly prices: readonly (string | null)[];
  readonly isCounted: boolean;
}

/** An order that is not rejected, read from its rows. */
export interface SentOrder {
  /** Its position in the calls. */
  readonly position: number;
  readonly row: OrderRow;
  readonly orderId: string;
  readonly email: string;
  readonly source: OrderSource;
  readonly items: readonly SentItem[];
}

const [idIndex, emailIndex] = [orderFieldNames.indexOf("order_id"), orderFieldNames.indexOf("email")];

/** Reads the orders that are not rejected. @param products what `readProductRows` returns */
export function* readSentOrders(rows: OrderRows, products: readonly ProductRow[]): Generator<SentOrder> {
  const units = JSON.parse(rows.units) as readonly UnitRow[];
  let [position, at] = [-1, 0];
  for (const row of JSON.parse(rows.orders) as readonly OrderRow[]) {
    do position++;
    while ((rows.problems.get(position)?.errors.length ?? 0) > 0);
    const end = at + Number(row[unitCountIndex]);
    const items: { product: ProductRow; prices: (string | null)[]; isCounted: boolean }[] = [];
    for (; at < end; at++) {
      const [, , unit, price, product = -1, isCounted] = units[at] as UnitRow;
      if (unit <= 1) items.push({ product: products[product] as ProductRow, prices: [], isCounted: isCounted === 1 });
      if (unit > 0) items.at(-1)?.prices.push(price);
    }
    const source = { platform: row[platformIndex] as Platform, sendsMail: row[sendsMailIndex] === 1 };
    yield { position, row, orderId: String(row[idIndex]), email: String(row[emailIndex]), source, items };
  }
}
