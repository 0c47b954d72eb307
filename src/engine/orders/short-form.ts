import { type OrderHead, orderLimits, type OrderProduct, type Platform } from "../../contract/index.ts";
import { isValidProductId } from "../products/product-check.ts";
import { externalSkuIndex, type ProductRow, toOrderedProductRow } from "../products/product-row.ts";
import { readPrice } from "./order-check.ts";

/** The input of `orders.massCreate` after validation. */
interface MassInput {
  readonly platform: Platform;
  readonly validate_data?: boolean | undefined;
  readonly send_mail?: boolean | undefined;
  readonly details?: boolean | undefined;
  readonly orders: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The orders of a call in the form in which they are stored if none of them is stored yet. Another thread reads it much
 * faster than the orders themselves.
 */
export interface ShortForm {
  readonly platform: Platform;
  readonly count: { readonly orders: number; readonly units: number };
  /** As JSON: the columns of each order, see `NewOrder`. */
  readonly orders: string;
  /** As JSON: the columns of each unit, see `NewUnit`. */
  readonly units: string;
  /** The product of each line item: the number of a remembered row, or, negative, that of one of the other rows, from -1. */
  readonly products: readonly number[];
  /** As JSON: rows to remember. Their numbers continue those of the calls before. */
  readonly remembered: string;
  /** As JSON: other rows. */
  readonly rows: string;
}

export type NewOrder = readonly [
  order_id: string,
  email: string,
  customer_name: string,
  order_date: number,
  currency_iso: string | null,
  user_reference: string | null,
];

export type NewUnit = readonly [order_id: string, product_id: string, unit: number, price: string | null];

/** Maximum number of product rows that both threads remember; about 5 MB. */
const maxRemembered = 10_000;

interface RememberedProduct {
  readonly number: number;
  readonly id: string;
  readonly currency: string | null;
}

/** Writes calls in the short form. Remembers the rows of frozen products, which never change. */
export class ShortFormWriter {
  readonly #remembered = new Map<unknown, RememberedProduct>();

  /** Returns undefined if the call must be sent as it is: it sends emails, or may not be stored completely. */
  write(input: MassInput): ShortForm | undefined {
    const { platform, send_mail, details, orders } = input;
    if (send_mail !== false || details !== true) return undefined;
    const draft = new Draft(input.validate_data === true, this.#remembered);
    for (const order of orders) {
      if (!draft.add(order)) return draft.forget();
    }
    return draft.units.length > orderLimits.unitsPerCall ? draft.forget() : draft.finish(platform);
  }
}

/** The short form of a call while it is written. */
class Draft {
  readonly units: NewUnit[] = [];
  readonly #orders: NewOrder[] = [];
  readonly #products: number[] = [];
  readonly #newlyRemembered: unknown[] = [];
  readonly #rememberedRows: ProductRow[] = [];
  readonly #rows: ProductRow[] = [];
  readonly #isValidating: boolean;
  readonly #remembered: Map<unknown, RememberedProduct>;

  constructor(isValidating: boolean, remembered: Map<unknown, RememberedProduct>) {
    this.#isValidating = isValidating;
    this.#remembered = remembered;
  }

  /** Returns whether the order can be added. */
  add(raw: Readonly<Record<string, unknown>>): boolean {
    const { order_id, email, customer_name, order_date, currency_iso, user_reference } = raw as OrderHead;
    if (!order_date) return false;
    const currency = currency_iso || null;
    this.#orders.push([order_id, email, customer_name, Date.parse(order_date), currency, user_reference || null]);
    const products = raw["products"] as Readonly<Record<string, OrderProduct>>;
    const before = this.units.length;
    let count = 0;
    for (const id in products) {
      const product = products[id];
      const number = product && this.#numberOf(id, product, currency);
      if (product === undefined || number === undefined) return false;
      this.#products.push(number);
      this.#addUnits(order_id, id, product);
      count += 1;
    }
    return count > 0 && count <= orderLimits.products && this.units.length - before <= orderLimits.units;
  }

  #addUnits(orderId: string, productId: string, { price, quantity = 1, unit_prices: prices = [] }: OrderProduct): void {
    const common = readPrice(price);
    for (let unit = 1; unit <= quantity; unit++) {
      const own = unit <= prices.length ? readPrice(prices[unit - 1]) : common;
      this.units.push([orderId, productId, unit, own]);
    }
  }

  /** The number of a product's row; undefined if the row needs the checks of the complete call. */
  #numberOf(id: string, product: OrderProduct, currency: string | null): number | undefined {
    const known = this.#remembered.get(product);
    if (known?.id === id && known.currency === currency) return known.number;
    let isComplete = isValidProductId(id) && !(this.#isValidating && product.image === undefined);
    const row = toOrderedProductRow(id, product, currency, () => (isComplete = false));
    if (!isComplete || row[externalSkuIndex] !== null) return undefined;
    if (known || this.#remembered.size >= maxRemembered || !Object.isFrozen(product)) return -this.#rows.push(row);
    const number = this.#remembered.size;
    this.#remembered.set(product, { number, id, currency });
    this.#newlyRemembered.push(product);
    this.#rememberedRows.push(row);
    return number;
  }

  finish(platform: Platform): ShortForm {
    return {
      platform,
      count: { orders: this.#orders.length, units: this.units.length },
      orders: JSON.stringify(this.#orders),
      units: JSON.stringify(this.units),
      products: this.#products,
      remembered: JSON.stringify(this.#rememberedRows),
      rows: JSON.stringify(this.#rows),
    };
  }

  /** The rows of a call that is not sent in the short form are not known to the other thread. */
  forget(): undefined {
    for (const product of this.#newlyRemembered) this.#remembered.delete(product);
  }
}

/** The orders of a call whose short form has been read. */
export interface NewOrders extends Pick<ShortForm, "platform" | "count" | "orders" | "units"> {
  /** The product of each line item, in order. */
  readonly products: readonly ProductRow[];
  /** The thread's calls in the short form; shared by all of them. */
  readonly series: Series;
}

/** Calls in the short form, which are carried out in order. */
export interface Series {
  /** Whether one of them was refused, so that all that follow are, too: otherwise, they would overtake it. */
  isRefused: boolean;
}

/** The calls that were read in the short form. */
const newOrders = new WeakMap<object, NewOrders>();

/** The orders of a call that was read in the short form. */
export function newOrdersOf(input: object): NewOrders | undefined {
  return newOrders.get(input);
}

/** Reads calls in the short form, in the order in which they were written. */
export class ShortFormReader {
  readonly #remembered: ProductRow[] = [];
  readonly #series: Series = { isRefused: false };

  read({ platform, count, orders, units, products, remembered, rows }: ShortForm): MassInput {
    this.#remembered.push(...(JSON.parse(remembered) as ProductRow[]));
    const own = JSON.parse(rows) as ProductRow[];
    const found = products.map((number) => {
      const row = number < 0 ? own[-1 - number] : this.#remembered[number];
      if (!row) throw new Error(`there is no product row ${number}`);
      return row;
    });
    const input: MassInput = { platform, send_mail: false, details: true, orders: [] };
    newOrders.set(input, { platform, count, orders, units, products: found, series: this.#series });
    return input;
  }
}
