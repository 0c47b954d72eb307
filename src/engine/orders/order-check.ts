import type * as z from "zod";
import { type FieldError, orderHead, type OrderHead, orderProduct, type OrderProduct } from "../../contract/index.ts";
import type { MissedLines } from "../products/missed-products.ts";
import { isValidProductId } from "../products/product-check.ts";
import { type ProductRow, toOrderedProductRow } from "../products/product-row.ts";

export interface OrderItem {
  readonly product: ProductRow;
  readonly price: string | null;
  readonly quantity: number;
  /** Prices of the first units, if they differ. */
  readonly unitPrices?: readonly (string | null)[] | undefined;
}

export interface CheckedOrder {
  /** Absent if the order is rejected or has no valid products. */
  readonly order?: { readonly head: OrderHead; readonly items: readonly OrderItem[] } | undefined;
  /** Absent if no line was skipped, or the order is rejected. */
  readonly missed?: MissedLines | undefined;
  readonly errors: readonly FieldError[];
}

export interface OrderRules {
  /** `validate_data`: the order date is required, and an invalid spec rejects the order. */
  readonly isValidating: boolean;
  /** Whether validation requires `image` for each product. Source: spec "Order (input)": required in bulk. */
  readonly needsImage: boolean;
  /** The input was already validated in this process. */
  readonly isChecked?: boolean | undefined;
}

const missing = "is missing";

/**
 * Checks one order.
 * Source: spec "Orders (purchases)", "General conventions" 4 and 7. Assumed: an order with errors is not stored, while
 * the other orders of the call are. Lines with an invalid product ID are skipped without an error, even when
 * validating, and stored as missed; an order without remaining lines is not created.
 */
export function checkOrder(raw: Readonly<Record<string, unknown>>, rules: OrderRules): CheckedOrder {
  const errors: FieldError[] = [];
  const head = rules.isChecked === true ? trust<OrderHead>(raw) : orderHead().safeParse(raw);
  if (!head.success) collect(errors, "", head.error.issues);
  if (rules.isValidating && (raw["order_date"] === undefined || raw["order_date"] === null)) {
    errors.push({ field: "order_date", error: missing });
  }
  const currency = (head.success && head.data.currency_iso) || null;
  const { items, missed: lines } = checkItems(raw["products"], currency, rules, errors);
  if (errors.length > 0 || !head.success) return { errors };
  const order = items.length > 0 ? { head: head.data, items } : undefined;
  return { order, missed: lines && { head: head.data, lines }, errors };
}

interface CheckedItems {
  readonly items: OrderItem[];
  missed?: [productId: string, raw: unknown][];
}

function checkItems(products: unknown, currency: string | null, rules: OrderRules, errors: FieldError[]): CheckedItems {
  const checked: CheckedItems = { items: [] };
  if (typeof products !== "object" || products === null || Array.isArray(products)) {
    errors.push({
      field: "products",
      error: products === undefined ? missing : "must be an object keyed by product id",
    });
    return checked;
  }
  const entries = Object.entries(products);
  if (entries.length === 0) errors.push({ field: "products", error: missing });
  for (const [productId, raw] of entries) {
    if (!isValidProductId(productId)) {
      (checked.missed ??= []).push([productId, raw]);
      continue;
    }
    const item = checkItem(productId, raw, currency, rules, errors);
    if (item) checked.items.push(item);
  }
  return checked;
}

function checkItem(
  productId: string,
  raw: unknown,
  currency: string | null,
  rules: OrderRules,
  errors: FieldError[],
): OrderItem | undefined {
  const path = `products.${productId}`;
  const parsed = rules.isChecked === true ? trust<OrderProduct>(raw) : orderProduct().safeParse(raw);
  if (!parsed.success) {
    collect(errors, path, parsed.error.issues);
    return undefined;
  }
  const { data } = parsed;
  if (rules.isValidating && rules.needsImage && data.image === undefined) {
    errors.push({ field: `${path}.image`, error: missing });
  }
  const product = toOrderedProductRow(productId, data, currency, (name, error) => {
    if (rules.isValidating) errors.push({ field: `${path}.specs.${name}`, error });
  });
  const unitPrices = data.unit_prices?.map(readPrice);
  return { product, price: readPrice(data.price), quantity: data.quantity ?? 1, unitPrices };
}

function readPrice(price: string | number | null | undefined): string | null {
  // Input that was already validated may contain prices as numbers.
  return price === undefined || price === null || price === "" ? null : String(price);
}

function trust<T>(value: unknown): { readonly success: true; readonly data: T } {
  return { success: true, data: value as T };
}

function collect(errors: FieldError[], prefix: string, issues: readonly z.core.$ZodIssue[]): void {
  for (const { path, message } of issues) {
    const inner = path.join(".");
    const field = [prefix, inner].filter((part) => part !== "").join(".");
    errors.push({ field, error: path.length === 0 ? "must be an object" : message });
  }
}
