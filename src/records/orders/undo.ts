import {
  endpointOf,
  orderFields,
  type OrderHead,
  type Platform,
  type ProductField,
  productFields,
  purchasePage,
  type RecordField,
  toShortPrice,
} from "../../contract/index.ts";
import { type ListedPurchase, listPurchases } from "../../service/listings.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Item } from "../../import/item.ts";
import { type Entry, noteKey, type Value } from "../../import/undo/previous-values.ts";
import {
  type Decision,
  decideRestored,
  type PreviousState,
  type Reversal,
  type UndoBehavior,
  type UndoTarget,
  type Written,
} from "../../import/undo/undo-behavior.ts";
import { productUndo, readProducts } from "../products/undo.ts";
import type { OrderOptions } from "./plan.ts";
import type { WireProduct } from "./line-item.ts";
import { pricesOf } from "./product-values.ts";

type OrderPayload = OrderHead & { readonly products: Readonly<Record<string, WireProduct>> };

/** A product of a stored order, and the prices of its units by purchase ID; `""` for a unit without a price. */
interface StoredLine {
  readonly name: string;
  readonly url: string;
  readonly units: Readonly<Record<string, string>>;
}

/** A stored order. Its fields are those that the service returns. */
interface StoredOrder {
  readonly email: string;
  readonly platform?: Platform;
  /** When its first purchases were stored, by purchase ID. */
  readonly since: Readonly<Record<string, string>>;
  readonly fields: Value;
  readonly lines: Readonly<Record<string, StoredLine>>;
}

/** What an order of the run writes. */
interface WrittenOrder {
  readonly fields: Value;
  readonly lines: Readonly<Record<string, { readonly quantity?: number; readonly prices: readonly unknown[] }>>;
}

/** What undoes an order: the products whose emails are canceled, where none means all, and the values to restore. */
interface OrderReversal {
  readonly canceled?: readonly string[];
  readonly platform?: Platform;
  readonly order?: OrderHead & { readonly products: Record<string, WireProduct> };
}

/** The fields that an order that is sent again replaces. */
const restorable = Object.entries<RecordField>(orderFields).filter(([, { change }]) => change === undefined);

/** No order ID contains a line break. */
const productPrefix = "\n";
const isProduct = ({ key }: { readonly key: string }) => key.startsWith(productPrefix);
const productIdOf = ({ key }: { readonly key: string }) => key.slice(productPrefix.length);

/** The purchases of a page by order. */
function toOrders(purchases: readonly ListedPurchase[]): Entry[] {
  const orders = new Map<string, StoredOrder & { readonly lines: Record<string, StoredLine> }>();
  for (const purchase of purchases) {
    const { id, order_id, product_sku, user_email, platform, created_at, product_price } = purchase;
    const listed: Value = purchase;
    const fields = restorable.map(([name, { listedAs = name }]) => [name, listed[listedAs]] as const);
    const order = orders.get(order_id) ?? {
      email: user_email,
      ...(platform !== undefined && { platform: platform as Platform }),
      since: { [id]: created_at },
      fields: Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
      lines: {},
    };
    orders.set(order_id, order);
    const { units } = order.lines[product_sku] ?? {};
    const own = { ...units, [id]: product_price ?? "" };
    order.lines[product_sku] = { name: purchase.product_name, url: purchase.product_url, units: own };
  }
  return [...orders].map(([id, order]) => [id, { ...order }]);
}

type ReadEntries = (service: Service, options: CallOptions) => AsyncGenerator<readonly Entry[]>;

/** Lists all orders; an order can be on several pages. */
const readOrders: ReadEntries = async function* (service, options) {
  const pages = listPurchases(service, 0, options, { count: purchasePage.recommended, details: true });
  for await (const page of pages) yield toOrders(page);
};

const readAll: ReadEntries = async function* (service, options) {
  yield* readOrders(service, options);
  for await (const page of readProducts(service, options)) {
    yield page.map(([id, fields]): Entry => [`${productPrefix}${id}`, fields]);
  }
};

/** Notes whether the service returns the details of orders. */
const withNote = (read: ReadEntries): ReadEntries =>
  async function* (service, options) {
    let hasDetails = true;
    for await (const page of read(service, options)) {
      hasDetails &&= page.every(([key, { platform }]) => platform !== undefined || isProduct({ key }));
      yield page;
    }
    yield [[noteKey, { has_details: hasDetails }]];
  };

function writtenOrder({ products, ...head }: OrderPayload): WrittenOrder {
  const values: Value = head;
  const fields = restorable.flatMap(([name]) => (values[name] ? [[name, values[name]]] : []));
  const lines = Object.entries(products).map(([id, product]) => {
    const { quantity } = product;
    return [id, { ...(quantity !== undefined && { quantity }), prices: pricesOf(product) }];
  });
  return { fields: Object.fromEntries(fields), lines: Object.fromEntries(lines) };
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
export function createOrderUndo({ updateProducts = false }: OrderOptions): UndoBehavior {
  const read = updateProducts ? readAll : readOrders;
  return {
    previous: {
      read: withNote(read),
      isOnRequest: true,
      isOnlyWritten: true,
      describeLimits: (note) =>
        note["has_details"] === false
          ? "lines, prices, currencies, and user references of orders: the service does not return them"
          : undefined,
    },
    // Creation times show which orders are new, too, though less reliably.
    needsPrevious: false,
    isInParts: true,

    targetOf: ({ key, payload, parts = [] }: Item) => {
      const { products, currency_iso } = payload as OrderPayload;
      const written = { ...writtenOrder(payload as OrderPayload) };
      if (!updateProducts) return { key, written };
      const targets = parts.map(({ id }): Written => {
        return { key: `${productPrefix}${id}`, written: writtenProduct(products[id], currency_iso) };
      });
      return { key, written, parts: targets };
    },

    now: read,

    decide: (thing, past) => (isProduct(thing) ? decideProduct(thing, past) : decideOrder(thing, past)),

    itemsACall: endpointOf("orders.massCreate").batch?.recommended ?? 1,

    send: async (service, things, options) => {
      const [products, orders] = [things.filter(isProduct), things.filter((thing) => !isProduct(thing))];
      await cancelEmails(service, orders, options);
      const refused = await restoreOrders(service, orders, options);
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
  const before = past.get(thing.key);
  const { reason, ...decision } = before
    ? productUndo.decide({ ...thing, key: id }, { ...past, get: () => before })
    : { outcome: "kept" as const, reason: past.whyNot ?? "the run created it, and the API cannot delete products" };
  return { ...decision, reason: `product ${id}: ${reason}` };
}

const stays = "its emails are canceled; the API cannot delete orders, so the order and its products stay";

function decideOrder(thing: UndoTarget, past: PreviousState): Decision {
  const now = thing.now as StoredOrder | undefined;
  if (!now) return { outcome: "kept", reason: "is not stored on the service" };
  const before = past.get(thing.key) as StoredOrder | undefined;
  if (before) return decideStored(thing, { before, now });
  if (wasBefore(now, past))
    return { outcome: "kept", reason: "was stored before the run; what the run changed in it stays" };
  return { outcome: "reversed", reason: stays, send: { canceled: [] } };
}

/**
 * Whether an order's first purchase is older than the run.
 * Assumed: if the orders were not recorded, the service's clock decides; it agrees with ours and may have a resolution of
 * one second. Earlier versions recorded the highest purchase ID.
 */
function wasBefore({ since }: StoredOrder, past: PreviousState): boolean {
  const { has_details: isRecorded, highest_id: highest } = past.get(noteKey) ?? {};
  if (isRecorded !== undefined) return false;
  const [id, createdAt] = Object.entries(since)[0] ?? ["", ""];
  if (typeof highest === "number") return Number(id) <= highest;
  return Date.parse(createdAt) < past.startedMs - (past.startedMs % 1_000);
}

const unitPrices = (line: StoredLine | undefined) => Object.values(line?.units ?? {});

/** The fields of an order and of the line items that the run wrote. */
function flatten(order: StoredOrder, lines: Readonly<Record<string, number>>): Value {
  const hasDetails = order.platform !== undefined;
  const flat: Record<string, unknown> = { ...order.fields };
  for (const [id, units] of hasDetails ? Object.entries(lines) : []) {
    const prices = unitPrices(order.lines[id]);
    flat[quantityOf(id)] = prices.length;
    for (let unit = 0; unit < units; unit++) flat[priceOf(id, unit)] = prices[unit];
  }
  return flat;
}

const quantityOf = (id: string) => `products.${id}.quantity`;
const priceOf = (id: string, unit: number) => `products.${id}.price${unit === 0 ? "" : ` (unit ${unit + 1})`}`;

function decideStored(thing: UndoTarget, { before, now }: { readonly before: StoredOrder; readonly now: StoredOrder }) {
  const { fields, lines } = thing.written as unknown as WrittenOrder;
  const written: Record<string, unknown> = { ...fields };
  // The units of each line item that the run changed but neither added nor removed.
  const units: Record<string, number> = {};
  for (const [id, { quantity, prices }] of Object.entries(lines)) {
    const held = unitPrices(before.lines[id]).length;
    const left = quantity ?? Math.max(held, 1);
    units[id] = Math.min(held, left);
    written[quantityOf(id)] = left;
    for (const [unit, price] of prices.slice(0, units[id]).entries()) {
      if (price !== null) written[priceOf(id, unit)] = price;
    }
  }
  const states = { before: flatten(before, units), now: flatten(now, units) };
  const { send, ...decision } = decideRestored({ ...thing, written }, { ...states, isSame });
  const reversal = send && toReversal(thing.key, { restored: new Set(send), ids: Object.keys(lines), before, now });
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
  /** The products that the run wrote. */
  readonly ids: readonly string[];
  readonly before: StoredOrder;
  readonly now: StoredOrder;
}

/** An order names a product in any case; products are sent as they are now. */
function toReversal(order_id: string, { restored, ids, before, now }: Restored): OrderReversal {
  const asNow = (id: string): WireProduct => {
    const { name = "", url = "" } = now.lines[id] ?? before.lines[id] ?? {};
    return { name, url, image: "" };
  };
  const changed = ids.filter((id) => [...restored].some((field) => field.startsWith(`products.${id}.`)));
  const products: Record<string, WireProduct> = {};
  for (const id of changed) {
    const prices = unitPrices(before.lines[id]);
    products[id] = { ...asNow(id), quantity: prices.length, unit_prices: prices.map((price) => price || null) };
  }
  const [first] = Object.keys(now.lines);
  if (changed.length === 0 && first !== undefined) products[first] = asNow(first);
  const added = changed.filter((id) => before.lines[id] === undefined);
  const values = restorable.flatMap(([name]) => {
    const { [name]: value } = (restored.has(name) ? before : now).fields;
    if (typeof value !== "string" || value === "") return [];
    return [[name, name === "order_date" ? dayOf(value) : value]];
  });
  const order = { ...Object.fromEntries(values), order_id, email: now.email };
  return {
    ...(added.length > 0 && { canceled: added }),
    platform: now.platform ?? "general",
    order: { ...(order as unknown as OrderHead), products },
  };
}

async function cancelEmails(service: Service, things: readonly Reversal[], options: CallOptions): Promise<void> {
  const orders = things.flatMap(({ key, send: { canceled } }) =>
    Array.isArray(canceled) ? [{ order_id: key, ...(canceled.length > 0 && { skus: canceled as string[] }) }] : [],
  );
  if (orders.length > 0) await service.orders.cancelEmails({ orders }, options);
}

/** Sends the previous values of orders, and leaves their products alone. */
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
    for (const { order_id, order_num = 0, field, error } of errors) {
      refused.set(order_id ?? orders[order_num]?.order_id ?? "", `${field} ${error}`);
    }
  }
  return refused;
}
