import { sql } from "kysely";
import {
  type FieldError,
  type ItemOutcome,
  orderConflictText,
  outcomeOf,
  type Platform,
} from "../../contract/index.ts";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type CheckedOrder, type OrderItem, tooLargeText } from "./order-check.ts";
import { queueOrderEmails, readLastPurchase, updateOrderEmails } from "./order-emails.ts";
import { addProductChanges } from "./product-changes.ts";
import { type MergedUnit, OrderMerge } from "./order-merge.ts";
import { type OrderFields, readStoredOrders, type StoredUnit } from "./stored-orders.ts";
import { type MissedLines, storeMissedProducts } from "../products/missed-products.ts";
import { externalSkuIndex, mergeRows, type ProductRow } from "../products/product-row.ts";
import { dropTakenSkus, prepareProducts, takenSkuText } from "../products/product-store.ts";
import { dayOf } from "../kernel/times.ts";

interface PurchaseColumns {
  order_id: string;
  product_id: string;
  unit: number;
  price: string;
}

const orderColumns: BatchColumns<OrderFields> = {
  order_id: "text",
  email: "text",
  customer_name: "text",
  order_date: "integer",
  currency_iso: "text",
  user_reference: "text",
};

const purchaseColumns: BatchColumns<PurchaseColumns> = {
  order_id: "text",
  product_id: "text",
  unit: "integer",
  price: "text",
};

/** The properties that a call specifies for all of its orders. */
export interface OrderSource {
  readonly platform: Platform;
  /** Whether customers receive review requests. */
  readonly sendsMail: boolean;
  /** Whether to report the product data that repeated orders change (default: false). */
  readonly details?: boolean | undefined;
}

/** What became of an order: its outcome, and the errors for which it was rejected. */
export interface OrderResult {
  readonly outcome: ItemOutcome;
  readonly errors: readonly FieldError[];
}

const conflict: FieldError = { field: "email", error: orderConflictText };
const tooLarge: FieldError = { field: "products", error: tooLargeText };

function toRejected({ errors, dropped }: Pick<CheckedOrder, "errors" | "dropped">): OrderResult {
  return { outcome: outcomeOf("dropped", { dropped: [...errors, ...dropped] }), errors };
}

/**
 * Stores orders with their products, purchases, and skipped lines, and queues their emails.
 * Source: spec "Orders (purchases)". Assumed: an order that is sent again is merged into the stored one, as described at
 * `OrderMerge`; of one with another customer's address, nothing is stored. Products are updated from the last order that
 * names them, even a repeated one. Only products that are new to an order trigger emails, as specified by the call that
 * adds them.
 */
export async function storeOrders(
  orders: readonly CheckedOrder[],
  source: OrderSource,
  context: HandlerContext,
): Promise<OrderResult[]> {
  if (orders.every(({ head }) => head === undefined)) return orders.map(toRejected);
  const stored = preloaded.get(orders) ?? (await readStored(orders, context));
  preloaded.delete(orders);
  const merge = new OrderMerge(stored, context.nowMs);
  const items: OrderItem[] = [];
  const missed: MissedLines[] = [];
  const results = orders.map((order): OrderResult => {
    const { head, dropped } = order;
    if (!head) return toRejected(order);
    if (merge.isConflict(head)) return toRejected({ errors: [conflict], dropped: [] });
    if (merge.isTooLarge(head, order.items)) return toRejected({ errors: [tooLarge], dropped: [] });
    if (order.missed) missed.push(order.missed);
    if (order.items.length === 0) return toRejected(order);
    items.push(...order.items);
    const { outcome, fields } = merge.add(head, order.items);
    return { outcome: outcomeOf(outcome, { ...(fields && { fields }), dropped }), errors: [] };
  });
  const outcomes = source.details
    ? await addProductChanges(
        results.map(({ outcome }, at) => ({ outcome, items: orders[at]?.items ?? [] })),
        context,
      )
    : [];
  const { taken, writes } = await prepareItems(items, context);
  await storeChanges(merge, writes, source, context);
  if (missed.length > 0) await storeMissedProducts(missed, context);
  return results.map(({ outcome, errors }, at) => ({
    outcome: reportTakenSkus(outcomes[at] ?? outcome, orders[at]?.items ?? [], taken),
    errors,
  }));
}

type Stored = Awaited<ReturnType<typeof readStoredOrders>>;

/** The stored ones of orders, until `storeOrders` is called for them in the same transaction. */
const preloaded = new WeakMap<readonly CheckedOrder[], Stored>();

/** Reads what `storeOrders` needs to know of the stored orders. Nothing may be written in between. */
export async function preloadStoredOrders(orders: readonly CheckedOrder[], context: HandlerContext): Promise<void> {
  preloaded.set(orders, await readStored(orders, context));
}

function readStored(orders: readonly CheckedOrder[], context: HandlerContext): Promise<Stored> {
  return readStoredOrders(
    orders.flatMap(({ head }) => head?.order_id ?? []),
    context,
  );
}

/** Adds the SKUs that belong to other products to what is not stored of an order. */
function reportTakenSkus(outcome: ItemOutcome, items: readonly OrderItem[], taken: readonly string[]): ItemOutcome {
  if (taken.length === 0 || outcome.outcome === "dropped") return outcome;
  const dropped = items
    .filter(({ product }) => product[externalSkuIndex] !== null && taken.includes(product[0]))
    .map(({ product: [id] }) => ({ field: `products.${id}.specs.external_sku`, error: takenSkuText }));
  if (dropped.length === 0) return outcome;
  const unchanged = new Set(dropped.map(({ field }) => field));
  const fields = outcome.fields?.filter((field) => !unchanged.has(field)) ?? [];
  const name = outcome.outcome === "changed" && fields.length === 0 ? "unchanged" : outcome.outcome;
  return outcomeOf(name, { fields, dropped: [...(outcome.dropped ?? []), ...dropped] });
}

type Write = () => Promise<unknown>;

/** Prepares one row per product, in which values of later orders take precedence. */
async function prepareItems(
  items: readonly OrderItem[],
  context: HandlerContext,
): Promise<{ readonly taken: readonly string[]; readonly writes: readonly Write[] }> {
  const rows = new Map<string, ProductRow>();
  for (const { product } of items) {
    const earlier = rows.get(product[0]);
    // Copied, because the SKU of a row may be cleared.
    rows.set(product[0], earlier ? mergeRows(earlier, product) : [...product]);
  }
  const products = [...rows.values()];
  const taken = await dropTakenSkus(products, context);
  return { taken, writes: await prepareProducts(products, context) };
}

async function storeChanges(
  merge: OrderMerge,
  productWrites: readonly Write[],
  source: OrderSource,
  context: HandlerContext,
): Promise<void> {
  const { orders, before, addedUnits, changedUnits, removedUnits } = merge.changes();
  const { transaction, dialect, nowMs } = context;
  let writes: Write[] = [...productWrites];
  const flush = async () => {
    const due = writes;
    writes = [];
    await dialect.runAll(due);
  };
  if (orders.length > 0) writes.push(() => saveOrders(orders, source, context));
  if (before.length > 0) {
    await flush();
    await updateOrderEmails(before, orders, context);
  }
  if (addedUnits.length > 0) {
    const today = { accountId: accountOf(context).id, day: dayOf(nowMs) };
    if (source.sendsMail) await flush();
    const last = source.sendsMail ? await readLastPurchase(context) : 0;
    writes.push(
      () => openDay(transaction, dialect, today),
      () => saveUnits(addedUnits, context),
      () => countPurchases(transaction, dialect, { ...today, added: addedUnits.length }),
    );
    if (source.sendsMail) {
      await flush();
      await queueOrderEmails(last, context);
    }
  }
  if (changedUnits.length > 0) writes.push(() => saveUnits(changedUnits, context));
  await flush();
  if (removedUnits.length > 0) await removeUnits(removedUnits, context);
}

async function saveOrders(
  orders: readonly OrderFields[],
  { platform, sendsMail }: OrderSource,
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  await saveOrderRows(transaction, dialect, {
    accountId: accountOf(context).id,
    platform,
    sendsMail: Number(sendsMail),
    nowMs,
    rows: JSON.stringify(orders.map(toOrderRow)),
  });
}

/** In the order of `orderColumns`. */
function toOrderRow(order: OrderFields): readonly unknown[] {
  const { order_id, email, customer_name, order_date, currency_iso, user_reference } = order;
  return [order_id, email, customer_name, order_date, currency_iso, user_reference];
}

const saveOrderRows = createDeferredStatement<{
  accountId: number;
  platform: string;
  sendsMail: number;
  nowMs: number;
  rows: string;
}>(
  (slot, dialect) => sql`
    insert into orders (account_id, platform, created_at, order_id, email, customer_name, order_date,
      currency_iso, user_reference, sends_mail)
    select cast(${slot("accountId")} as bigint), cast(${slot("platform")} as text),
      cast(${slot("nowMs")} as bigint), order_id, email, customer_name, order_date, currency_iso, user_reference,
      cast(${slot("sendsMail")} as integer)
    from ${batchOf(orderColumns, slot("rows"), dialect)} where true
    on conflict (account_id, order_id) do update set customer_name = excluded.customer_name,
      order_date = excluded.order_date, currency_iso = excluded.currency_iso, user_reference = excluded.user_reference`,
);

async function saveUnits(units: readonly MergedUnit[], context: HandlerContext): Promise<void> {
  await saveUnitRows(context.transaction, context.dialect, {
    accountId: accountOf(context).id,
    nowMs: context.nowMs,
    rows: JSON.stringify(units.map(({ order_id, product_id, unit, price }) => [order_id, product_id, unit, price])),
  });
}

/** The cross joins make the batch the outer loop, so that purchase IDs are in the order of the call. */
const saveUnitRows = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into purchases (account_id, created_at, order_row, product_row, unit, price)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), orders.id, products.id,
      batch.unit, batch.price
    from ${batchOf(purchaseColumns, slot("rows"), dialect)} cross join orders cross join products
    where orders.account_id = ${slot("accountId")} and orders.order_id = batch.order_id
      and products.account_id = ${slot("accountId")} and products.product_id = batch.product_id
    ${dialect.inBatchOrder}
    on conflict (order_row, product_row, unit) do update set price = excluded.price`,
);

async function removeUnits(units: readonly StoredUnit[], context: HandlerContext): Promise<void> {
  const { transaction, dialect } = context;
  await deleteUnits(transaction, dialect, { rows: JSON.stringify(units.map(({ id }) => [id])) });
  for (const day of new Set(units.map(({ created_at }) => dayOf(created_at)))) {
    const removed = units.filter(({ created_at }) => dayOf(created_at) === day).length;
    await countPurchases(transaction, dialect, { accountId: accountOf(context).id, day, added: -removed });
  }
}

const deleteUnits = createStatement<{ rows: string }>(
  (slot, dialect) => sql`
    delete from purchases
    where id in (select batch.id from ${batchOf<{ id: number }>({ id: "integer" }, slot("rows"), dialect)})`,
);

/** Records, before the first purchase of a day, the lowest ID that the day's purchases can have. */
const openDay = createDeferredStatement<{ accountId: number; day: number }>(
  (slot) => sql`
    insert into purchase_days (account_id, day, first_id, purchases)
    select cast(${slot("accountId")} as bigint), cast(${slot("day")} as bigint), coalesce(max(id), 0) + 1, 0
    from purchases where account_id = ${slot("accountId")}
    on conflict (account_id, day) do nothing`,
);

const countPurchases = createDeferredStatement<{ accountId: number; day: number; added: number }>(
  (slot) => sql`
    update purchase_days set purchases = purchases + ${slot("added")}
    where account_id = ${slot("accountId")} and day = ${slot("day")}`,
);
