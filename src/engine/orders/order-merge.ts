import {
  emailKeyOf,
  type FieldError,
  type ItemOutcome,
  orderConflictText,
  orderFields,
  orderLimits,
  type RecordField,
  toShortPrice,
} from "../../contract/index.ts";
import { dayOf } from "../kernel/times.ts";
import { tooLargeText } from "./order-check.ts";
import {
  orderFieldNames,
  type OrderRow,
  type OrderSource,
  type SentItem,
  type SentOrder,
  type UnitRow,
} from "./order-rows.ts";
import type { OrderFields, StoredOrder, StoredUnit } from "./stored-orders.ts";

/** A line item's units: their prices, and what is stored of them. */
interface Units {
  prices: readonly (string | null)[];
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

/** A line item that is new to its order, and whose customer receives a review request. */
export interface NewLine {
  readonly order_id: string;
  readonly product_id: string;
  readonly email: string;
}

/** What a call changes in the stored orders. */
export interface OrderChanges {
  /** JSON: an `OrderRow` for each new order, and for each stored one with new fields. */
  readonly orders: string;
  /** JSON: a `UnitRow` for each new unit, and for each stored one with a new price. */
  readonly units: string;
  readonly addedUnits: number;
  readonly removedUnits: readonly StoredUnit[];
  readonly newLines: readonly NewLine[];
  /** The stored orders whose fields change, before and after the change. */
  readonly changed: readonly { readonly before: StoredOrder; readonly after: OrderFields }[];
}

const descriptions: Readonly<Record<string, RecordField>> = orderFields;

/**
 * Merges the orders of a call into the stored ones and into each other.
 * Assumed: an order that is sent again replaces its customer name, date, currency, user reference, language, prices, and units with
 * the values that it specifies. Line items that it does not name remain, and units beyond the sent ones unless it
 * specifies `quantity`; 0 removes a line item, except the last one. An order with another customer's address is not merged;
 * addresses are compared by their keys.
 */
export class OrderMerge {
  readonly #stored: ReadonlyMap<string, StoredOrder>;
  readonly #nowMs: number;
  readonly #merged = new Map<string, MergedOrder>();

  constructor(stored: ReadonlyMap<string, StoredOrder>, nowMs: number) {
    this.#stored = stored;
    this.#nowMs = nowMs;
  }

  /** Why an order cannot be merged. */
  findError(order: SentOrder): FieldError | undefined {
    if (this.#isConflict(order)) return { field: "email", error: orderConflictText };
    if (this.#isTooLarge(order)) return { field: "products", error: tooLargeText };
    return this.#isEmptied(order) ? { field: "products", error: "are missing: an order has at least one" } : undefined;
  }

  /** Whether the order ID belongs to another customer's order. */
  #isConflict({ orderId, email }: SentOrder): boolean {
    const known = this.#merged.get(orderId)?.fields ?? this.#stored.get(orderId)?.fields;
    return known !== undefined && known.email !== email && emailKeyOf(known.email) !== emailKeyOf(email);
  }

  /** Whether the order would have too many line items or units, together with those that are stored. */
  #isTooLarge({ orderId, items }: SentOrder): boolean {
    const known = this.#merged.get(orderId)?.units ?? toUnits(this.#stored.get(orderId));
    // The units of a single order were counted when it was checked.
    if (!known) return false;
    const counts = countUnits(known);
    for (const { product, prices, isCounted } of items) {
      const count = isCounted ? prices.length : (counts.get(product[0]) ?? 1);
      if (count === 0) counts.delete(product[0]);
      else counts.set(product[0], count);
    }
    const units = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return counts.size > orderLimits.products || units > orderLimits.units;
  }

  /** Whether the order would have no line items left. */
  #isEmptied({ orderId, items }: SentOrder): boolean {
    if (items.every(({ prices }) => prices.length > 0)) return false;
    const known = this.#merged.get(orderId)?.units ?? toUnits(this.#stored.get(orderId)) ?? new Map<string, Units>();
    const left = new Set(countUnits(known).keys());
    for (const { product, prices } of items) left[prices.length > 0 ? "add" : "delete"](product[0]);
    return left.size === 0;
  }

  /** Merges an order for which `findError` finds none. */
  add(sent: SentOrder): Pick<ItemOutcome, "outcome" | "fields"> {
    const { orderId, row, items, source } = sent;
    const known = this.#merged.get(orderId) ?? this.#startFrom(this.#stored.get(orderId), source);
    const order = known ?? { fields: this.fieldsOf(sent), source, units: new Map<string, Units>() };
    this.#merged.set(orderId, order);
    const changed = known ? updateFields(known, row) : [];
    for (const item of items) changed.push(...updateUnits(order.units, item, source));
    if (!known) return { outcome: "created" };
    return changed.length > 0 ? { outcome: "changed", fields: [...new Set(changed)] } : { outcome: "unchanged" };
  }

  /** The order's fields as they are sent. */
  fieldsOf({ row }: SentOrder): OrderFields {
    return readFields(row, this.#nowMs);
  }

  #startFrom(stored: StoredOrder | undefined, source: OrderSource): MergedOrder | undefined {
    const units = toUnits(stored);
    return stored && units && { stored, fields: stored.fields, source, units };
  }

  changes(): OrderChanges {
    const orders: OrderRow[] = [];
    const units: UnitRow[] = [];
    const changed: { before: StoredOrder; after: OrderFields }[] = [];
    const removedUnits: StoredUnit[] = [];
    const newLines: NewLine[] = [];
    let addedUnits = 0;
    for (const { stored, fields, source, units: lines } of this.#merged.values()) {
      const { order_id, email } = fields;
      if (fields !== stored?.fields) orders.push(toOrderRow(fields, source));
      if (stored && fields !== stored.fields) changed.push({ before: stored, after: fields });
      for (const [product_id, { prices, stored: storedUnits, sendsMail }] of lines) {
        if (storedUnits.length === 0 && sendsMail) newLines.push({ order_id, product_id, email });
        for (const [at, price] of prices.entries()) {
          if (storedUnits[at]?.price === price) continue;
          if (!storedUnits[at]) addedUnits += 1;
          units.push([order_id, product_id, at + 1, price]);
        }
        removedUnits.push(...storedUnits.slice(prices.length));
      }
    }
    return {
      orders: JSON.stringify(orders),
      units: JSON.stringify(units),
      addedUnits,
      removedUnits,
      newLines,
      changed,
    };
  }
}

function readFields(row: OrderRow, nowMs: number): OrderFields {
  const fields = Object.fromEntries(
    orderFieldNames.map((name, at) => [name, row[at] ?? null]),
  ) as unknown as OrderFields;
  return { ...fields, order_date: fields.order_date ?? nowMs };
}

function toOrderRow(fields: OrderFields, { platform, sendsMail }: OrderSource): OrderRow {
  return [...orderFieldNames.map((name) => fields[name]), platform, Number(sendsMail)];
}

function toUnits(order: StoredOrder | undefined): Map<string, Units> | undefined {
  if (!order) return undefined;
  const units = [...order.units].map(([id, stored]): [string, Units] => [
    id,
    { prices: stored.map(({ price }) => price), stored, sendsMail: false },
  ]);
  return new Map(units);
}

/** The units of the line items that an order has. */
function countUnits(lines: ReadonlyMap<string, Units>): Map<string, number> {
  return new Map([...lines].flatMap(([id, { prices }]) => (prices.length > 0 ? [[id, prices.length]] : [])));
}

/** Replaces the fields that are specified and differ. Returns their names. */
function updateFields(order: MergedOrder, row: OrderRow): string[] {
  const { fields } = order;
  const changed = orderFieldNames.filter((name, at) => {
    const [sent, stored, { type, change }] = [row[at] ?? null, fields[name], descriptions[name] as RecordField];
    if (sent === null || change !== undefined) return false;
    // A stored date has a time if it was not specified.
    return type === "date" ? dayOf(Number(sent)) !== dayOf(Number(stored)) : sent !== stored;
  });
  if (changed.length > 0) {
    const values = changed.map((name) => [name, row[orderFieldNames.indexOf(name)]]);
    order.fields = { ...fields, ...Object.fromEntries(values) };
  }
  return changed;
}

/** Adds or updates the units of a line item. Returns the names of the fields that changed. */
function updateUnits(
  units: Map<string, Units>,
  { product, prices: sent, isCounted }: SentItem,
  { sendsMail }: OrderSource,
) {
  const [id] = product;
  const known = units.get(id);
  if (!known) {
    if (sent.length === 0) return [];
    units.set(id, { prices: sent, stored: [], sendsMail });
    return ["products"];
  }
  const { prices } = known;
  const length = isCounted ? sent.length : Math.max(prices.length, 1);
  const merged = Array.from({ length }, (_, at) => mergePrice(prices[at] ?? null, sent[at] ?? null));
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
