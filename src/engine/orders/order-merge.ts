import { type ItemOutcome, type OrderHead, orderLimits, type Platform, toShortPrice } from "../../contract/index.ts";
import { dayOf } from "../kernel/times.ts";
import type { OrderItem } from "./order-check.ts";
import type { OrderFields, StoredOrder, StoredUnit } from "./stored-orders.ts";

/** The properties that a call specifies for all of its orders. */
export interface OrderSource {
  readonly platform: Platform;
  /** Whether customers receive review requests. */
  readonly sendsMail: boolean;
}

/** A line item's units: their prices, and what is stored of them. */
interface Units {
  prices: (string | null)[];
  readonly stored: readonly StoredUnit[];
  /** Whether the call that added the line item sends emails. */
  readonly sendsMail: boolean;
}

/** An order as it will be stored at the end of the call. */
interface MergedOrder {
  /** Absent for a new order. */
  readonly stored?: StoredOrder | undefined;
  fields: OrderFields;
  /** The source of the call that created it, or else of the first call that repeats it. */
  readonly source: OrderSource;
  readonly units: Map<string, Units>;
}

export interface MergedUnit {
  readonly order_id: string;
  readonly product_id: string;
  /** From 1. */
  readonly unit: number;
  readonly price: string | null;
}

/** A line item that is new to its order, and whose customer receives a review request. */
export type NewLine = Pick<MergedUnit, "order_id" | "product_id"> & Pick<OrderFields, "email">;

/** What a call changes in the stored orders. */
export interface OrderChanges {
  /** New orders, and stored ones with new fields. */
  readonly orders: readonly Pick<MergedOrder, "fields" | "source">[];
  /** The stored orders whose fields change, before the change. */
  readonly before: readonly StoredOrder[];
  readonly addedUnits: readonly MergedUnit[];
  readonly changedUnits: readonly MergedUnit[];
  readonly removedUnits: readonly StoredUnit[];
  readonly newLines: readonly NewLine[];
}

export type Merged = Pick<ItemOutcome, "outcome" | "fields">;

/**
 * Merges the orders of a call into the stored ones and into each other.
 * Assumed: an order that is sent again replaces its customer name, date, currency, user reference, prices, and units with
 * the values that it specifies. Line items that it does not name remain, and units beyond the sent ones unless it
 * specifies `quantity`. An order with another customer's address is not merged; addresses are compared regardless of case.
 */
export class OrderMerge {
  readonly #stored: ReadonlyMap<string, StoredOrder>;
  readonly #nowMs: number;
  readonly #merged = new Map<string, MergedOrder>();

  constructor(stored: ReadonlyMap<string, StoredOrder>, nowMs: number) {
    this.#stored = stored;
    this.#nowMs = nowMs;
  }

  /** Whether the order ID belongs to another customer's order. */
  isConflict({ order_id, email }: OrderHead): boolean {
    const known = this.#merged.get(order_id)?.fields ?? this.#stored.get(order_id)?.fields;
    return known !== undefined && known.email !== email && known.email.toLowerCase() !== email.toLowerCase();
  }

  /** Whether the order would have too many line items or units, together with those that are stored. */
  isTooLarge({ order_id }: OrderHead, items: readonly OrderItem[]): boolean {
    const known = this.#merged.get(order_id)?.units ?? toUnits(this.#stored.get(order_id));
    // The units of a single order were counted when it was checked.
    if (!known) return false;
    const counts = new Map([...known].map(([id, { prices }]) => [id, prices.length]));
    for (const { product, quantity } of items) counts.set(product[0], quantity ?? counts.get(product[0]) ?? 1);
    const units = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return counts.size > orderLimits.products || units > orderLimits.units;
  }

  /** Merges an order that is not in conflict. */
  add(head: OrderHead, items: readonly OrderItem[], source: OrderSource): Merged {
    const known = this.#merged.get(head.order_id) ?? this.#startFrom(this.#stored.get(head.order_id), source);
    const order = known ?? { fields: this.#createFields(head), source, units: new Map<string, Units>() };
    this.#merged.set(head.order_id, order);
    const changed = known ? updateFields(known, head) : [];
    for (const item of items) changed.push(...updateUnits(order.units, item, source));
    if (!known) return { outcome: "created" };
    return changed.length > 0 ? { outcome: "changed", fields: [...new Set(changed)] } : { outcome: "unchanged" };
  }

  #startFrom(stored: StoredOrder | undefined, source: OrderSource): MergedOrder | undefined {
    const units = toUnits(stored);
    return stored && units && { stored, fields: stored.fields, source, units };
  }

  #createFields(head: OrderHead): OrderFields {
    return {
      order_id: head.order_id,
      email: head.email,
      customer_name: head.customer_name,
      order_date: head.order_date ? Date.parse(head.order_date) : this.#nowMs,
      currency_iso: head.currency_iso || null,
      user_reference: head.user_reference || null,
    };
  }

  changes(): OrderChanges {
    const orders: Pick<MergedOrder, "fields" | "source">[] = [];
    const before: StoredOrder[] = [];
    const addedUnits: MergedUnit[] = [];
    const changedUnits: MergedUnit[] = [];
    const removedUnits: StoredUnit[] = [];
    const newLines: NewLine[] = [];
    for (const { stored, fields, source, units } of this.#merged.values()) {
      const { order_id, email } = fields;
      if (fields !== stored?.fields) orders.push({ fields, source });
      if (stored && fields !== stored.fields) before.push(stored);
      for (const [product_id, { prices, stored: storedUnits, sendsMail }] of units) {
        if (storedUnits.length === 0 && sendsMail) newLines.push({ order_id, product_id, email });
        for (const [at, price] of prices.entries()) {
          const storedUnit = storedUnits[at];
          if (storedUnit?.price === price) continue;
          (storedUnit ? changedUnits : addedUnits).push({ order_id, product_id, unit: at + 1, price });
        }
        removedUnits.push(...storedUnits.slice(prices.length));
      }
    }
    return { orders, before, addedUnits, changedUnits, removedUnits, newLines };
  }
}

function toUnits(order: StoredOrder | undefined): Map<string, Units> | undefined {
  if (!order) return undefined;
  const units = [...order.units].map(([id, stored]): [string, Units] => [
    id,
    { prices: stored.map(({ price }) => price), stored, sendsMail: false },
  ]);
  return new Map(units);
}

/** Replaces the fields that are specified and differ. Returns their names. */
function updateFields(order: MergedOrder, head: OrderHead): string[] {
  const { fields } = order;
  const date = head.order_date ? Date.parse(head.order_date) : fields.order_date;
  const wanted = {
    customer_name: head.customer_name,
    // The stored date has a time if it was not specified.
    order_date: dayOf(date) === dayOf(fields.order_date) ? fields.order_date : date,
    currency_iso: head.currency_iso || fields.currency_iso,
    user_reference: head.user_reference || fields.user_reference,
  };
  const names = Object.keys(wanted) as (keyof typeof wanted)[];
  const changed = names.filter((name) => wanted[name] !== fields[name]);
  if (changed.length > 0) order.fields = { ...fields, ...wanted };
  return changed;
}

/** Adds or updates the units of a line item. Returns the names of the fields that changed. */
function updateUnits(
  units: Map<string, Units>,
  { product, price, quantity, unitPrices = [] }: OrderItem,
  { sendsMail }: OrderSource,
): string[] {
  const [id] = product;
  const known = units.get(id);
  const wanted = Array<string | null>(quantity ?? 1).fill(price);
  for (let at = 0; at < wanted.length && at < unitPrices.length; at++) wanted[at] = unitPrices[at] ?? null;
  if (!known) {
    units.set(id, { prices: wanted, stored: [], sendsMail });
    return ["products"];
  }
  const { prices } = known;
  const length = quantity ?? Math.max(prices.length, 1);
  const merged = Array.from({ length }, (_, at) => mergePrice(prices[at] ?? null, wanted[at] ?? null));
  known.prices = merged;
  const changed: string[] = [];
  if (merged.length !== prices.length) changed.push(`products.${id}.quantity`);
  if (merged.some((own, at) => at < prices.length && own !== prices[at])) changed.push(`products.${id}.price`);
  return changed;
}

/** The sent price, unless it is absent or equals the stored one except for insignificant zeros. */
function mergePrice(stored: string | null, sent: string | null): string | null {
  if (sent === null || stored === sent) return stored;
  return stored !== null && toShortPrice(stored) === toShortPrice(sent) ? stored : sent;
}
