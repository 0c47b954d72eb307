import type * as z from "zod";
import {
  type contract,
  type FieldError,
  invalidField,
  invalidIdText,
  isSurelyHead,
  isJsonObject,
  isSurelyProduct,
  maxLength,
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
import { runInSlices } from "../../storage/loop-turn.ts";
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

const { unitsPerCall, problemsPerCall, ...perOrder } = orderLimits;

/**
 * Checks one order.
 * Source: spec "Orders (purchases)", "General conventions" 4 and 7. Assumed: an order with errors is not stored, while
 * the other orders of the call are. Unless validating, an invalid optional field is dropped instead. Lines with an
 * invalid product ID are skipped without an error, even when validating, and stored as missed; an order without
 * remaining lines is not created.
 */
export function* checkOrder(
  raw: Readonly<Record<string, unknown>>,
  rules: OrderRules,
  size = countUnits(raw["products"]),
): Generator<undefined, CheckedOrder> {
  const problems: Problems = { errors: [], dropped: [] };
  const { errors, dropped } = problems;
  const head = rules.isChecked === true ? (raw as OrderHead) : parseHead(raw, rules, problems);
  if (rules.isValidating && (raw["order_date"] === undefined || raw["order_date"] === null)) {
    errors.push({ field: "order_date", error: missing });
  }
  const products = readProducts(raw["products"], size, errors);
  const items: OrderItem[] = [];
  let missed: MissedLine[] | undefined;
  for (const productId of Object.keys(products)) {
    const found = errors.length + dropped.length;
    if (isValidProductId(productId)) {
      const item = checkItem(productId, products[productId], head?.currency_iso || null, rules, problems);
      if (item) items.push(item);
    } else {
      (missed ??= []).push(toMissedLine(productId, products[productId]));
      dropped.push({ field: `products.${productId}`, error: invalidIdText });
    }
    // Only checks that find something take long.
    if (errors.length + dropped.length > found) yield;
  }
  const orderId = readOrderId(raw["order_id"]);
  if (errors.length > 0 || !head) return { orderId, items: [], errors, dropped };
  return { orderId, head, items, missed, errors, dropped };
}

/** Shortened, because each error of the order repeats it. */
function readOrderId(raw: unknown): string | null {
  return typeof raw === "string" || typeof raw === "number" ? String(raw).slice(0, maxLength.id) : null;
}

export type CreateInput = z.output<typeof contract.orders.create.input>;
export type MassCreateInput = z.output<typeof contract.orders.massCreate.input>;

function sourceOf({ platform, send_mail: sendsMail = true }: Pick<CreateInput, "platform" | "send_mail">): OrderSource {
  return { platform, sendsMail };
}

/** Checks the orders of calls with one order each, while other events are handled now and then. */
export function checkSingleOrders(inputs: readonly CreateInput[]): Promise<OrderRows> {
  return runInSlices(checkEach(inputs));
}

function* checkEach(inputs: readonly CreateInput[]): Generator<undefined, OrderRows> {
  const rows = new OrderRowCollector();
  for (const input of inputs) {
    const rules = { isValidating: input.validate_data === true, needsImage: false };
    rows.add(yield* checkOrder(input, rules), sourceOf(input));
    yield;
  }
  return rows.finish();
}

/** A bulk call whose orders were checked. */
export interface CheckedCall extends Omit<MassCreateInput, "orders" | "platform"> {
  readonly rows: OrderRows;
}

function* checkAll(input: MassCreateInput, isChecked: boolean | undefined): Generator<undefined, CheckedCall> {
  const { orders, platform: _platform, ...call } = input;
  const rules: OrderRules = { isValidating: call.validate_data === true, needsImage: true, isChecked };
  const source = sourceOf(input);
  const rows = new OrderRowCollector();
  let [units, problems] = [0, 0];
  for (const raw of orders) {
    const size = countUnits(raw["products"]);
    // Of an order that is too large, nothing is stored.
    if (!isTooLarge(size)) units += size.units;
    if (units > unitsPerCall) throw tooMany("units", unitsPerCall);
    const checked = yield* checkOrder(raw, rules, size);
    problems += checked.errors.length + checked.dropped.length;
    if (problems > problemsPerCall) throw tooMany("invalid values", problemsPerCall);
    rows.add(checked, source);
    yield;
  }
  return { ...call, rows: rows.finish() };
}

/**
 * Checks the orders of a bulk call, while other events are handled now and then.
 * @param isChecked whether the caller has checked them against the contract
 * @throws ServiceError `invalidParams` if there are too many units or invalid values
 */
export function checkCall(input: MassCreateInput, isChecked: boolean | undefined): Promise<CheckedCall> {
  return runInSlices(checkAll(input, isChecked));
}

/** Checks the orders of a bulk call, which meet the contract, at once, for another thread. */
export function checkCallForThread(input: MassCreateInput): CheckedCall {
  const checks = checkAll(input, true);
  for (;;) {
    const { done, value } = checks.next();
    // Text is transferred much faster than lists.
    if (done === true) return { ...value, rows: { ...value.rows, products: JSON.stringify(value.rows.products) } };
  }
}

/** The error of an order with more line items or units than allowed. */
export const tooLargeText = `have more than ${orderLimits.products} elements or ${orderLimits.units} units`;

function tooMany(what: string, max: number): ServiceError {
  return invalidField("orders", `have more than ${max} ${what}; send fewer orders per call`);
}

function isTooLarge({ products, units }: OrderSize): boolean {
  return products > perOrder.products || units > perOrder.units;
}

interface ItemSize {
  readonly quantity?: unknown;
  readonly unit_prices?: unknown;
}

interface OrderSize {
  readonly products: number;
  readonly units: number;
}

/**
 * Counts the line items of an order, and their units: each takes at least as many as it lists prices. An invalid quantity
 * counts as 1, as it does when it is dropped.
 */
function countUnits(given: unknown): OrderSize {
  const products = (given ?? {}) as Readonly<Record<string, ItemSize | null>>;
  let [count, units] = [0, 0];
  if (typeof products !== "object") return { products: count, units };
  for (const id of Object.keys(products)) {
    const { quantity, unit_prices: prices } = products[id] ?? {};
    const sent = isQuantity(quantity) ? quantity : 1;
    count += 1;
    units += Array.isArray(prices) ? Math.max(sent, prices.length) : sent;
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
  // An unknown language does not make an order invalid: its emails have that of the account.
  const canDrop = (field: PropertyKey) => own[field]?.type === "language" || (!isValidating && isOptional(field));
  const { value, errors } = parseLeniently(orderHead(), raw, canDrop);
  (value ? problems.dropped : problems.errors).push(...errors);
  return value;
}

/** Returns the products of an order, or none, and adds an error, if they are missing or too many. */
function readProducts(products: unknown, size: OrderSize, errors: FieldError[]): Readonly<Record<string, unknown>> {
  let error: string | undefined;
  if (products === undefined || size.products === 0) error = missing;
  if (products !== undefined && !isJsonObject(products)) error = "must be an object keyed by product id";
  else if (isTooLarge(size)) error = tooLargeText;
  if (error !== undefined) errors.push({ field: "products", error });
  return error === undefined ? (products as Readonly<Record<string, unknown>>) : {};
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
