import type * as z from "zod";
import {
  type FieldError,
  orderHead,
  type OrderHead,
  orderProduct,
  type OrderProduct,
} from "../../contract/index.ts";
import type { MissedLines } from "../products/missed-products.ts";
import { isValidProductId } from "../products/product-check.ts";
import { type ProductRow, toOrderedProductRow } from "../products/product-row.ts";

/** One product of an order that is to be stored. */
export interface OrderItem {
  readonly product: ProductRow;
  readonly price: string | null;
  readonly quantity: number;
  /** Of the first units, where they are not all the same. */
  readonly unitPrices?: readonly (string | null)[] | undefined;
}

export interface CheckedOrder {
  /** Absent where the order is not to be stored. */
  readonly order?: { readonly head: OrderHead; readonly items: readonly OrderItem[] } | undefined;
  /** Absent where no line was passed over, or the order has a problem. */
  readonly missed?: MissedLines | undefined;
  readonly errors: readonly FieldError[];
}

export interface OrderRules {
  /** `validate_data`: an order date must be there, and any problem with a spec keeps the order out. */
  readonly isValidating: boolean;
  /** Whether the `image` key must be on each product when validating. Source: spec "Order (input)": required in bulk. */
  readonly needsImage: boolean;
  /** The shapes were applied already, in this process. */
  readonly isChecked?: boolean | undefined;
}

const missing = "is missing";

/**
 * Checks one order by itself.
 * Source: spec "Orders (purchases)", "General conventions" 4 and 7. Assumed: an order with a problem is not stored
 * while the others of the call are; a product id with other characters is passed over without a word, also when
 * validating, and an order left without a product is not created; what was passed over is kept as missed.
 */
export function checkOrder(raw: Readonly<Record<string, unknown>>, rules: OrderRules): CheckedOrder {
  const errors: FieldError[] = [];
  const head = rules.isChecked === true ? trust<OrderHead>(raw) : orderHead().safeParse(raw);
  if (!head.success) collect(errors, "", head.error.issues);
  if (rules.isValidating && (raw["order_date"] === undefined || raw["order_date"] === null)) {
    errors.push({ field: "order_date", error: missing });
  }
  const currency = (head.success && head.data.currency_iso) || null;
  const { items, missed: lines } = readItems(raw["products"], currency, rules, errors);
  if (errors.length > 0 || !head.success) return { errors };
  const order = items.length > 0 ? { head: head.data, items } : undefined;
  return { order, missed: lines && { head: head.data, lines }, errors };
}

interface ReadItems {
  readonly items: OrderItem[];
  missed?: [productId: string, raw: unknown][];
}

function readItems(
  products: unknown,
  currency: string | null,
  rules: OrderRules,
  errors: FieldError[],
): ReadItems {
  const read: ReadItems = { items: [] };
  if (typeof products !== "object" || products === null || Array.isArray(products)) {
    errors.push({
      field: "products",
      error: products === undefined ? missing : "must be an object keyed by product id",
    });
    return read;
  }
  const entries = Object.entries(products);
  if (entries.length === 0) errors.push({ field: "products", error: missing });
  for (const [productId, raw] of entries) {
    if (!isValidProductId(productId)) {
      (read.missed ??= []).push([productId, raw]);
      continue;
    }
    const item = readItem(productId, raw, currency, rules, errors);
    if (item) read.items.push(item);
  }
  return read;
}

function readItem(
  productId: string,
  raw: unknown,
  currency: string | null,
  rules: OrderRules,
  errors: FieldError[],
): OrderItem | undefined {
  const at = `products.${productId}`;
  const parsed = rules.isChecked === true ? trust<OrderProduct>(raw) : orderProduct().safeParse(raw);
  if (!parsed.success) {
    collect(errors, at, parsed.error.issues);
    return undefined;
  }
  const { data } = parsed;
  if (rules.isValidating && rules.needsImage && data.image === undefined) {
    errors.push({ field: `${at}.image`, error: missing });
  }
  const product = toOrderedProductRow(productId, data, currency, (name, error) => {
    if (rules.isValidating) errors.push({ field: `${at}.specs.${name}`, error });
  });
  const unitPrices = data.unit_prices?.map(readPrice);
  return { product, price: readPrice(data.price), quantity: data.quantity ?? 1, unitPrices };
}

function readPrice(price: string | number | null | undefined): string | null {
  // In a bulk call it is a number, and a checked one is still as it came.
  return price === undefined || price === null || price === "" ? null : String(price);
}

function trust<T>(value: unknown): { readonly success: true; readonly data: T } {
  return { success: true, data: value as T };
}

function collect(errors: FieldError[], at: string, issues: readonly z.core.$ZodIssue[]): void {
  for (const { path, message } of issues) {
    const inner = path.join(".");
    const field = [at, inner].filter((part) => part !== "").join(".");
    errors.push({ field, error: path.length === 0 ? "must be an object" : message });
  }
}
