import { setImmediate as nextTurn } from "node:timers/promises";
import type * as z from "zod";
import {
  type contract,
  type FieldError,
  invalidField,
  invalidIdText,
  isSurelyHead,
  isSurelyProduct,
  maxQuantity,
  lineFields,
  orderFields,
  orderHead,
  type OrderHead,
  orderProduct,
  orderLimits,
  type OrderProduct,
  type RecordField,
  type ServiceError,
} from "../../contract/index.ts";
import { parseLeniently } from "../kernel/parse-leniently.ts";
import { isValidProductId, type MissedLine, toMissedLine } from "../products/product-check.ts";
import { toOrderedProductRow } from "../products/product-row.ts";
import {
  type CheckedOrder,
  type OrderItem,
  OrderRowCollector,
  type OrderRows,
  type OrderSource,
} from "./order-rows.ts";

export interface OrderRules {
  /** `validate_data`: the order date is required, and an invalid optional field rejects the order. */
  readonly isValidating: boolean;
  /** Whether validation requires `image` for each product. Source: spec "Order (input)": required in bulk. */
  readonly needsImage: boolean;
  /** The input was already validated in this process. */
  readonly isChecked?: boolean | undefined;
}

interface Problems {
  readonly errors: FieldError[];
  readonly dropped: FieldError[];
}

const missing = "is missing";

const own: Readonly<Record<PropertyKey, RecordField>> = orderFields;
const ofProduct: Readonly<Record<PropertyKey, RecordField>> = lineFields;

/** Assumed: an invalid date rejects the order, because the emails depend on it. */
const isOptional = (field: PropertyKey) => own[field]?.isRequired !== true && own[field]?.type !== "date";
const isOptionalOfProduct = (field: PropertyKey) => ofProduct[field]?.isRequired !== true;

const { unitsPerCall, ...perOrder } = orderLimits;

/**
 * Checks one order.
 * Source: spec "Orders (purchases)", "General conventions" 4 and 7. Assumed: an order with errors is not stored, while
 * the other orders of the call are. Unless validating, an invalid optional field is dropped instead. Lines with an
 * invalid product ID are skipped without an error, even when validating, and stored as missed; an order without
 * remaining lines is not created.
 */
export function checkOrder(
  raw: Readonly<Record<string, unknown>>,
  rules: OrderRules,
  size = countUnits(raw["products"]),
): CheckedOrder {
  const problems: Problems = { errors: [], dropped: [] };
  const { errors, dropped } = problems;
  const head = rules.isChecked === true ? (raw as OrderHead) : parseHead(raw, rules, problems);
  if (rules.isValidating && (raw["order_date"] === undefined || raw["order_date"] === null)) {
    errors.push({ field: "order_date", error: missing });
  }
  const order = { products: raw["products"], size, currency: head?.currency_iso || null };
  const { items, missed } = checkItems(order, rules, problems);
  const orderId = readOrderId(raw["order_id"]);
  if (errors.length > 0 || !head) return { orderId, items: [], errors, dropped };
  return { orderId, head, items, missed, errors, dropped };
}

function readOrderId(raw: unknown): string | null {
  return typeof raw === "string" || typeof raw === "number" ? String(raw) : null;
}

export type CreateInput = z.output<typeof contract.orders.create.input>;
export type MassCreateInput = z.output<typeof contract.orders.massCreate.input>;

function sourceOf({ platform, send_mail: sendsMail = true }: Pick<CreateInput, "platform" | "send_mail">): OrderSource {
  return { platform, sendsMail };
}

/** Checks the orders of calls with one order each. */
export function checkSingleOrders(inputs: readonly CreateInput[]): OrderRows {
  const rows = new OrderRowCollector();
  for (const input of inputs) {
    const rules = { isValidating: input.validate_data === true, needsImage: false };
    rows.add(checkOrder(input, rules), sourceOf(input));
  }
  return rows.finish();
}

/** A bulk call whose orders were checked. */
export interface CheckedCall extends Omit<MassCreateInput, "orders" | "platform"> {
  readonly rows: OrderRows;
}

/** Orders that are checked before other events are handled. */
const checkedPerTurn = 100;

function* checkInTurns(input: MassCreateInput, isChecked: boolean | undefined): Generator<undefined, CheckedCall> {
  const { orders, platform: _platform, ...call } = input;
  const rules: OrderRules = { isValidating: call.validate_data === true, needsImage: true, isChecked };
  const source = sourceOf(input);
  const rows = new OrderRowCollector();
  let units = 0;
  for (const [at, raw] of orders.entries()) {
    if (at > 0 && at % checkedPerTurn === 0) yield;
    const size = countUnits(raw["products"]);
    units += size.units;
    if (units > unitsPerCall) throw tooManyUnits(orders);
    rows.add(checkOrder(raw, rules, size), source);
  }
  return { ...call, rows: rows.finish() };
}

/**
 * Checks the orders of a bulk call, while other events are handled now and then.
 * @param isChecked whether the caller has checked them against the contract
 * @throws ServiceError `invalidParams` if there are too many units
 */
export async function checkCall(input: MassCreateInput, isChecked: boolean | undefined): Promise<CheckedCall> {
  const turns = checkInTurns(input, isChecked);
  for (;;) {
    const { done, value } = turns.next();
    if (done === true) return value;
    await nextTurn();
  }
}

/** Checks the orders of a bulk call, which meet the contract, at once, for another thread. */
export function checkCallForThread(input: MassCreateInput): CheckedCall {
  const turns = checkInTurns(input, true);
  for (;;) {
    const { done, value } = turns.next();
    // Text is transferred much faster than lists.
    if (done === true) return { ...value, rows: { ...value.rows, products: JSON.stringify(value.rows.products) } };
  }
}

/** The error of an order with more line items or units than allowed. */
export const tooLargeText = `have more than ${orderLimits.products} elements or ${orderLimits.units} units`;

function tooManyUnits(orders: MassCreateInput["orders"]): ServiceError {
  const units = orders.reduce((sum, { products }) => sum + countUnits(products).units, 0);
  return invalidField("orders", `have ${units} units; at most ${unitsPerCall} are allowed per call`);
}

interface OrderSize {
  readonly products: number;
  readonly units: number;
}

/** Counts the line items of an order, and their units. An invalid quantity counts as 1, as it does when it is dropped. */
function countUnits(given: unknown): OrderSize {
  const products = (given ?? {}) as Readonly<Record<string, { readonly quantity?: unknown } | null>>;
  let [count, units] = [0, 0];
  if (typeof products !== "object") return { products: count, units };
  for (const id of Object.keys(products)) {
    const quantity = products[id]?.quantity;
    count += 1;
    units += isQuantity(quantity) ? quantity : 1;
  }
  return { products: count, units };
}

function isQuantity(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= maxQuantity;
}

function parseHead(
  raw: Readonly<Record<string, unknown>>,
  { isValidating }: OrderRules,
  problems: Problems,
): OrderHead | undefined {
  if (isSurelyHead(raw)) return raw;
  const canDrop = (field: PropertyKey) => !isValidating && isOptional(field);
  const { value, errors } = parseLeniently(orderHead(), raw, canDrop);
  (value ? problems.dropped : problems.errors).push(...errors);
  return value;
}

interface CheckedItems {
  readonly items: OrderItem[];
  missed?: MissedLine[];
}

interface SentItems {
  readonly products: unknown;
  readonly size: OrderSize;
  readonly currency: string | null;
}

function checkItems({ products, size, currency }: SentItems, rules: OrderRules, problems: Problems): CheckedItems {
  const checked: CheckedItems = { items: [] };
  const { errors } = problems;
  if (typeof products !== "object" || products === null || Array.isArray(products)) {
    errors.push({
      field: "products",
      error: products === undefined ? missing : "must be an object keyed by product id",
    });
    return checked;
  }
  if (size.products > perOrder.products || size.units > perOrder.units) {
    errors.push({ field: "products", error: tooLargeText });
    return checked;
  }
  if (size.products === 0) errors.push({ field: "products", error: missing });
  for (const productId of Object.keys(products)) {
    const raw = (products as Readonly<Record<string, unknown>>)[productId];
    if (!isValidProductId(productId)) {
      (checked.missed ??= []).push(toMissedLine(productId, raw));
      problems.dropped.push({ field: `products.${productId}`, error: invalidIdText });
      continue;
    }
    const item = checkItem(productId, raw, currency, rules, problems);
    if (item) checked.items.push(item);
  }
  return checked;
}

function checkItem(
  productId: string,
  raw: unknown,
  currency: string | null,
  rules: OrderRules,
  problems: Problems,
): OrderItem | undefined {
  const data = rules.isChecked === true ? (raw as OrderProduct) : parseProduct(productId, raw, rules, problems);
  if (!data) return undefined;
  const optional = rules.isValidating ? problems.errors : problems.dropped;
  if (rules.isValidating && rules.needsImage && data.image === undefined) {
    optional.push({ field: `products.${productId}.image`, error: missing });
  }
  const product = toOrderedProductRow(productId, data, currency, (name, error) =>
    optional.push({ field: `products.${productId}.specs.${name}`, error }),
  );
  return {
    product,
    price: readPrice(data.price),
    quantity: data.quantity,
    unitPrices: data.unit_prices?.map(readPrice),
  };
}

/** The schema also converts a numeric price to text. */
function withTextPrice(raw: unknown): unknown {
  const { price } = (raw ?? {}) as { readonly price?: unknown };
  return typeof price === "number" ? { ...(raw as object), price: String(price) } : raw;
}

function parseProduct(
  productId: string,
  raw: unknown,
  { isValidating }: OrderRules,
  problems: Problems,
): OrderProduct | undefined {
  const given = withTextPrice(raw);
  if (isSurelyProduct(given)) return given;
  const canDrop = (field: PropertyKey) => !isValidating && isOptionalOfProduct(field);
  const { value, errors } = parseLeniently(orderProduct(), raw, canDrop);
  for (const { field, error } of errors) {
    const target = value ? problems.dropped : problems.errors;
    const path = `products.${productId}`;
    target.push({ field: field === "" ? path : `${path}.${field}`, error });
  }
  return value;
}

function readPrice(price: string | number | null | undefined): string | null {
  // Input that was already validated may contain prices as numbers.
  return price === undefined || price === null || price === "" ? null : String(price);
}
