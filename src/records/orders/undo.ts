import {
  endpointOf,
  type OrderHead,
  type Platform,
  type ProductField,
  productFields,
  toShortPrice,
} from "../../contract/index.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Item } from "../../import/item.ts";
import { type Entry, noteKey, type Value } from "../../import/undo/previous-values.ts";
import {
  type Decision,
  decideRestored,
  fieldNumber,
  type PreviousState,
  type Reversal,
  type UndoBehavior,
  type UndoTarget,
  type Written,
} from "../../import/undo/undo-behavior.ts";
import { productUndo } from "../products/undo.ts";
import type { WireProduct } from "./line-item.ts";
import type { OrderOptions } from "./plan.ts";
import { pricesOf } from "./product-values.ts";
import { platformOf } from "./scheduled-emails.ts";
import {
  describeLimits,
  isProduct,
  listOrders,
  listProducts,
  noteOf,
  productIdOf,
  productPrefix,
  readPrevious,
  restorable,
  type StoredLine,
  type StoredOrder,
} from "./undo-state.ts";

type OrderPayload = OrderHead & { readonly products: Readonly<Record<string, WireProduct>> };

/** A line item that the run writes, and the prices of its units by position, from 0, if they have one. */
interface WrittenLine {
  readonly name: string;
  readonly url: string;
  readonly quantity?: number;
  readonly prices: Readonly<Record<number, unknown>>;
}

/** What an order of the run writes. If several calls name it, the parts of the last one take precedence. */
interface WrittenOrder {
  readonly platform: Platform;
  readonly fields: Value;
  readonly lines: Readonly<Record<string, WrittenLine>>;
}

/** What undoes an order: its values, or nothing, which means that its emails are canceled. */
interface OrderReversal {
  readonly platform?: Platform;
  readonly order?: OrderHead & { readonly products: Record<string, WireProduct> };
}

function writtenOrder({ payload, batchKey }: Item): WrittenOrder {
  const { products, ...head } = payload as OrderPayload;
  const values: Value = head;
  const fields = restorable.flatMap(([name]) => (values[name] ? [[name, values[name]]] : []));
  const lines = Object.entries(products).map(([id, product]): [string, WrittenLine] => {
    const { url, quantity } = product;
    const name = String(product.name);
    const prices = [...pricesOf(product).entries()].filter(([, price]) => price !== null);
    return [id, { name, url, ...(quantity !== undefined && { quantity }), prices: Object.fromEntries(prices) }];
  });
  return { platform: platformOf(batchKey), fields: Object.fromEntries(fields), lines: Object.fromEntries(lines) };
}

/** What a line item writes to its product, by column. */
function writtenProduct(product: WireProduct | undefined, orderCurrency: string | null | undefined): Value {
  const sent: Value = { ...product };
  const specs: Value = product?.specs ?? {};
  const values = Object.entries<ProductField>(productFields).map(([name, { inOrder, isSpec }]) => {
    const value = isSpec ? specs[name] : inOrder ? sent[inOrder.name] : undefined;
    return [name, name === "currency_iso" ? (product?.currency_iso ?? orderCurrency) : value] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== null && value !== ""));
}

/**
 * Cancels the emails of the orders that the run created, and restores the others, and, if the run changes products that
 * were stored already, these too.
 */
export function createOrderUndo({ updateProducts = false, undoable = false }: OrderOptions): UndoBehavior {
  const withProducts = updateProducts && undoable;
  return {
    previous: {
      read: (service, options) => readPrevious(service, options, withProducts),
      isOnRequest: true,
      isOnlyWritten: true,
      describeLimits,
    },
    // Creation times show which orders are new, too, though less reliably.
    needsPrevious: false,
    isInParts: true,

    targetOf: (item) => {
      const { key, payload, parts = [] } = item;
      const written = { ...writtenOrder(item) };
      if (!withProducts) return { key, written };
      const { products, currency_iso } = payload as OrderPayload;
      const targets = parts.map(({ id }): Written => {
        return { key: `${productPrefix}${id}`, written: writtenProduct(products[id], currency_iso) };
      });
      return { key, written, parts: targets };
    },

    now: async function* (service, options, past): AsyncGenerator<readonly Entry[]> {
      yield* listOrders(service, options);
      if (noteOf(past).has_products === true) yield* listProducts(service, options);
    },

    decide: (thing, past) => (isProduct(thing) ? decideProduct(thing, past) : decideOrder(thing, past)),

    itemsACall: endpointOf("orders.massCreate").batch?.recommended ?? 1,

    send: async (service, things, options) => {
      const [products, orders] = [things.filter(isProduct), things.filter((thing) => !isProduct(thing))];
      const refused = await restoreOrders(service, orders, options);
      await cancelEmails(service, orders, options);
      if (products.length === 0) return refused;
      const own = products.map(({ key, send }) => ({ key: productIdOf({ key }), send }));
      const refusedProducts = await productUndo.send(service, own, options);
      return new Map([
        ...refused,
        ...[...refusedProducts].map(([id, text]) => [`${productPrefix}${id}`, text] as const),
      ]);
    },
  };
}

function decideProduct(thing: UndoTarget, past: PreviousState): Decision {
  const id = productIdOf(thing);
  const { reason, ...decision } = decideNamedProduct({ ...thing, key: id }, past.get(thing.key), past);
  return { ...decision, reason: `product ${id}: ${reason}` };
}

/** @param thing its key is the product ID */
function decideNamedProduct(thing: UndoTarget, before: Value | undefined, past: PreviousState): Decision {
  if (before) return productUndo.decide(thing, { ...past, get: () => before });
  const { has_products, no_products = past.whyNot ?? "the service's products were not recorded" } = noteOf(past);
  return has_products === true
    ? { outcome: "unchanged", reason: "the run created it, and the API cannot delete products" }
    : { outcome: "impossible", reason: `its previous values are unknown: ${no_products}` };
}

const stays = "its emails are canceled; the API cannot delete orders, so the order and its products stay";

function decideOrder(thing: UndoTarget, past: PreviousState): Decision {
  const now = thing.now as StoredOrder | undefined;
  if (!now) return { outcome: "kept", reason: "is not stored on the service" };
  const before = past.get(thing.key) as StoredOrder | undefined;
  if (before) return decideStored(thing, { before, now });
  if (wasBefore(now, past))
    return { outcome: "kept", reason: "was stored before the run; what the run changed in it stays" };
  return { outcome: "reversed", reason: stays, send: {} };
}

/**
 * Whether an order's first purchase is older than the run.
 * Assumed: if the orders were not recorded, the service's clock decides; it agrees with ours and may have a resolution of
 * one second. Earlier versions recorded the highest purchase ID.
 */
function wasBefore({ since }: StoredOrder, past: PreviousState): boolean {
  if (noteOf(past).has_details !== undefined) return false;
  const { highest_id: highest } = past.get(noteKey) ?? {};
  const [id, createdAt] = Object.entries(since)[0] ?? ["", ""];
  if (typeof highest === "number") return Number(id) <= highest;
  return Date.parse(createdAt) < past.startedMs - (past.startedMs % 1_000);
}

const unitPrices = (line: StoredLine | undefined) => Object.values(line?.units ?? {});

const quantityOf = (id: string) => `products.${id}.quantity`;
const priceOf = (id: string, unit: number) => `products.${id}.price${fieldNumber}${unit}`;

/** The fields of an order and of the line items that the run wrote, with that many units. */
function flatten(order: StoredOrder, units: ReadonlyMap<string, number>): Record<string, unknown> {
  const hasDetails = order.platform !== undefined;
  const flat: Record<string, unknown> = { ...order.fields };
  for (const [id, count] of hasDetails ? units : []) {
    const prices = unitPrices(order.lines[id]);
    flat[quantityOf(id)] = prices.length;
    for (let unit = 0; unit < count; unit++) flat[priceOf(id, unit)] = prices[unit] ?? "";
  }
  return flat;
}

function decideStored(
  thing: UndoTarget,
  { before, now }: { readonly before: StoredOrder; readonly now: StoredOrder },
): Decision {
  const { fields, lines, platform } = thing.written as unknown as WrittenOrder;
  const written: Record<string, unknown> = { ...fields };
  /** The units that the run leaves, by line item. */
  const units = new Map<string, number>();
  const added: [field: string, price: unknown][] = [];
  for (const [id, { quantity, prices }] of Object.entries(lines)) {
    const held = unitPrices(before.lines[id]).length;
    const left = quantity ?? Math.max(held, 1);
    units.set(id, left);
    written[quantityOf(id)] = left;
    for (let unit = 0; unit < left; unit++) {
      const price = prices[unit];
      if (unit >= held) added.push([priceOf(id, unit), price ?? ""]);
      if (unit >= held || price !== undefined) written[priceOf(id, unit)] = price ?? "";
    }
  }
  const state = flatten(before, units);
  // Units that the run added are removed, unless their prices have changed since.
  if (before.platform !== undefined) for (const [field, price] of added) state[field] = price;
  const { send, ...decision } = decideRestored(
    { ...thing, written },
    { before: state, now: flatten(now, units), isSame },
  );
  const reversal = send && toReversal(thing.key, { restored: new Set(send), lines, before, now, platform });
  return { ...decision, ...(reversal && { send: { ...reversal } }) };
}

/** Whether the service considers two values of an order equal: the day of a date, prices, and currencies. */
function isSame(field: string, a: unknown, b: unknown): boolean {
  const [one, other] = [String(a), String(b)];
  if (field === "order_date") return dayOf(one) === dayOf(other);
  if (field.includes(".price")) return toShortPrice(one) === toShortPrice(other);
  return one === other || (field === "currency_iso" && one.toUpperCase() === other.toUpperCase());
}

const dayOf = (date: string) => date.slice(0, "YYYY-MM-DD".length);

interface Restored {
  readonly restored: ReadonlySet<string>;
  /** What the run wrote. */
  readonly lines: WrittenOrder["lines"];
  readonly platform: Platform;
  readonly before: StoredOrder;
  readonly now: StoredOrder;
}

/** An order names its customer, its date, and a product in any case; products are sent as they are now. */
function toReversal(order_id: string, { restored, lines, platform, before, now }: Restored): OrderReversal {
  const asNow = (id: string, { name, url }: WrittenLine): WireProduct => {
    const stored = now.lines[id];
    return { name: stored?.name || name, url: stored?.url || url, image: "" };
  };
  const products: Record<string, WireProduct> = {};
  for (const [id, line] of Object.entries(lines)) {
    const prices = unitPrices(before.lines[id]);
    const isRestored = restored.has(quantityOf(id)) || prices.some((_price, unit) => restored.has(priceOf(id, unit)));
    const unit_prices = prices.map((price) => price || null);
    if (isRestored) products[id] = { ...asNow(id, line), quantity: prices.length, unit_prices };
  }
  const other = Object.entries(lines).find(([id]) => now.lines[id] !== undefined);
  if (Object.keys(products).length === 0 && other) products[other[0]] = asNow(...other);
  const values = restorable.flatMap(([name, { isRequired, type }]) => {
    const isRestored = restored.has(name);
    const { [name]: value } = (isRestored ? before : now).fields;
    if (typeof value !== "string" || value === "" || !(isRestored || isRequired || type === "date")) return [];
    return [[name, type === "date" ? dayOf(value) : value]];
  });
  const order = { ...Object.fromEntries(values), order_id, email: now.email };
  return { platform: now.platform ?? platform, order: { ...(order as unknown as OrderHead), products } };
}

async function cancelEmails(service: Service, things: readonly Reversal[], options: CallOptions): Promise<void> {
  const created = things.filter(({ send }) => (send as OrderReversal).order === undefined);
  const orders = created.map(({ key }) => ({ order_id: key }));
  if (orders.length > 0) await service.orders.cancelEmails({ orders }, options);
}

/**
 * Sends the previous values of orders, and leaves their products alone.
 * Assumed: an error without a known order ID concerns all orders of its call, since services differ in `order_num`.
 */
async function restoreOrders(
  service: Service,
  things: readonly Reversal[],
  options: CallOptions,
): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  const reversals = things.map(({ send }) => send as OrderReversal);
  for (const platform of new Set(reversals.map((reversal) => reversal.platform))) {
    if (platform === undefined) continue;
    const orders = reversals.flatMap(({ order, platform: own }) => (order && own === platform ? [order] : []));
    const { errors = [] } = await service.orders.massCreate(
      { platform, validate_data: true, send_mail: false, update_products_since_id: Number.MAX_SAFE_INTEGER, orders },
      options,
    );
    for (const { order_id, field, error } of errors) {
      const named = orders.filter((order) => order.order_id === order_id);
      for (const order of named.length > 0 ? named : orders) {
        refused.set(order.order_id, [refused.get(order.order_id), `${field} ${error}`].filter(Boolean).join("; "));
      }
    }
  }
  return refused;
}
