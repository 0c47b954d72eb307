import { orderFields, type Platform, purchasePage, type RecordField } from "../../contract/index.ts";
import { type ListedPurchase, listPurchases } from "../../service/listings.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import { type Entry, noteKey, type Value } from "../../import/undo/previous-values.ts";
import { isRefusal, type PreviousState } from "../../import/undo/undo-behavior.ts";
import { readProducts } from "../products/undo.ts";

/** A product of a stored order, and the prices of its units by purchase ID; `""` for a unit without a price. */
export interface StoredLine {
  readonly name: string;
  readonly url: string;
  readonly units: Readonly<Record<string, string>>;
}

/** A stored order. Its fields are those that the service returns. */
export interface StoredOrder {
  readonly email: string;
  readonly platform?: Platform;
  /** When its first purchases were stored, by purchase ID. */
  readonly since: Readonly<Record<string, string>>;
  readonly fields: Value;
  readonly lines: Readonly<Record<string, StoredLine>>;
}

/** The fields that an order that is sent again replaces. */
export const restorable = Object.entries<RecordField>(orderFields).filter(([, { change }]) => change === undefined);

/** No order ID contains a line break, and products are restored after orders. */
export const productPrefix = "\u{10FFFF}\n";
export const isProduct = ({ key }: { readonly key: string }) => key.startsWith(productPrefix);
export const productIdOf = ({ key }: { readonly key: string }) => key.slice(productPrefix.length);

/** Fields without a value are empty; those that the service does not return are missing. */
function withoutNulls(fields: Value): Value {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known.map(([name, value]) => [name, value ?? ""]));
}

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
      fields: withoutNulls(Object.fromEntries(fields)),
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
export const listOrders: ReadEntries = async function* (service, options) {
  const pages = listPurchases(service, 0, options, { count: purchasePage.recommended, details: true });
  for await (const page of pages) yield toOrders(page);
};

export const listProducts: ReadEntries = async function* (service, options) {
  for await (const page of readProducts(service, options)) {
    yield page.map(([id, fields]): Entry => [`${productPrefix}${id}`, withoutNulls(fields)]);
  }
};

/** What the service returned before the run. */
interface Note {
  /** Whether orders had their details. */
  readonly has_details?: boolean;
  readonly has_products?: boolean;
  /** Why the service did not list its products. */
  readonly no_products?: string;
}

export const noteOf = (past: PreviousState): Note => past.get(noteKey) ?? {};

export async function* readPrevious(
  service: Service,
  options: CallOptions,
  withProducts: boolean,
): AsyncGenerator<readonly Entry[]> {
  let hasDetails = true;
  for await (const page of listOrders(service, options)) {
    hasDetails &&= page.every(([, { platform }]) => platform !== undefined);
    yield page;
  }
  let note: Note = { has_details: hasDetails, has_products: withProducts };
  try {
    if (withProducts) yield* listProducts(service, options);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    note = { ...note, has_products: false, no_products: error.message };
  }
  yield [[noteKey, { ...note }]];
}

export function describeLimits({ has_details, no_products }: Note): string | undefined {
  const limits = [
    has_details === false
      ? "lines, prices, currencies, and user references of orders: the service does not return them"
      : "",
    no_products === undefined ? "" : `products: ${no_products}`,
  ].filter((limit) => limit !== "");
  return limits.length > 0 ? limits.join("; nor ") : undefined;
}
