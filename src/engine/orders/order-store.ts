import { sql } from "kysely";
import { type FieldError, type ItemOutcome, orderConflictText, outcomeOf } from "../../contract/index.ts";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type CheckedOrder, type OrderItem, tooLargeText } from "./order-check.ts";
import { type EmailTiming, queueOrderEmails, readEmailTiming, updateOrderEmails } from "./order-emails.ts";
import { addProductChanges } from "./product-changes.ts";
import { type MergedUnit, type OrderChanges, OrderMerge, type OrderSource } from "./order-merge.ts";
import { type OrderFields, readStoredOrders, type StoredOrder, type StoredUnit } from "./stored-orders.ts";
import { type MissedLines, storeMissedProducts } from "../products/missed-products.ts";
import { externalSkuIndex, mergeProducts, type ProductRow } from "../products/product-row.ts";
import {
  dropTakenSkus,
  findTakenSkus,
  prepareProducts,
  requireFreeSkus,
  type TakenSkus,
  takenSkuText,
} from "../products/product-store.ts";
import { dayOf } from "../kernel/times.ts";

interface PurchaseColumns {
  order_id: string;
  product_id: string;
  unit: number;
  price: string;
}

/** In the order of a `NewOrder`. */
export const orderFieldColumns: BatchColumns<OrderFields> = {
  order_id: "text",
  email: "text",
  customer_name: "text",
  order_date: "integer",
  currency_iso: "text",
  user_reference: "text",
};

const orderColumns: BatchColumns<OrderFields & { platform: string; sends_mail: number }> = {
  ...orderFieldColumns,
  platform: "text",
  sends_mail: "integer",
};

const purchaseColumns: BatchColumns<PurchaseColumns> = {
  order_id: "text",
  product_id: "text",
  unit: "integer",
  price: "text",
};

interface StoreOptions {
  /** Returns the properties of an order that its call specifies. */
  readonly sourceOf: (position: number) => OrderSource;
  /** Whether to report the product data that repeated orders change (default: false). */
  readonly details?: boolean | undefined;
  /** The number of calls that the orders are from (default: 1). */
  readonly calls?: number;
  /** What `readStored` returned in the same transaction, without writes in between. Read if absent. */
  readonly stored?: Stored;
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
  { sourceOf, details, calls = 1, stored: before }: StoreOptions,
  context: HandlerContext,
): Promise<OrderResult[]> {
  if (orders.every(({ head }) => head === undefined)) return orders.map(toRejected);
  const { stored, timing, takenSkus } = before ?? (await readStored(orders, sourceOf, context));
  const merge = new OrderMerge(stored, context.nowMs);
  const items: OrderItem[] = [];
  const missed: MissedLines[] = [];
  const results = orders.map((order, at): OrderResult => {
    const { head, dropped } = order;
    if (!head) return toRejected(order);
    if (merge.isConflict(head)) return toRejected({ errors: [conflict], dropped: [] });
    if (merge.isTooLarge(head, order.items)) return toRejected({ errors: [tooLarge], dropped: [] });
    if (order.missed) missed.push(order.missed);
    if (order.items.length === 0) return toRejected(order);
    items.push(...order.items);
    const { outcome, fields } = merge.add(head, order.items, sourceOf(at));
    return { outcome: outcomeOf(outcome, { ...(fields && { fields }), dropped }), errors: [] };
  });
  const outcomes = details
    ? await addProductChanges(
        results.map(({ outcome }, at) => ({ outcome, items: orders[at]?.items ?? [] })),
        context,
      )
    : [];
  // Copied, because the SKU of a row may be cleared.
  const products = mergeProducts(items.map(({ product }) => product)).map((row) => row.slice() as ProductRow);
  const taken = dropTakenSkus(products, takenSkus);
  requireFreeSkus(taken, { calls });
  const writes = await prepareProducts(products, context);
  await storeChanges(merge.changes(), { productWrites: writes, timing }, context);
  if (missed.length > 0) await storeMissedProducts(missed, context);
  return results.map(({ outcome, errors }, at) => ({
    outcome: reportTakenSkus(outcomes[at] ?? outcome, orders[at]?.items ?? [], taken),
    errors,
  }));
}

interface Stored {
  /** The stored ones of the orders. */
  readonly stored: ReadonlyMap<string, StoredOrder>;
  /** When review requests are sent, unless none of the orders causes any. */
  readonly timing: EmailTiming | undefined;
  readonly takenSkus: TakenSkus;
}

/** Reads what `storeOrders` needs to know. */
export async function readStored(
  orders: readonly CheckedOrder[],
  sourceOf: StoreOptions["sourceOf"],
  context: HandlerContext,
): Promise<Stored> {
  const orderIds = orders.flatMap(({ head }) => head?.order_id ?? []);
  if (orderIds.length === 0) return { stored: new Map(), timing: undefined, takenSkus: new Set() };
  const sendsMail = orders.some(({ head }, at) => head !== undefined && sourceOf(at).sendsMail);
  let stored: Stored["stored"] = new Map();
  const products = orders.flatMap(({ items }) => items.map(({ product }) => product));
  let timing: EmailTiming | undefined;
  let takenSkus: TakenSkus = new Set();
  const reads = [
    async () => void (stored = await readStoredOrders(orderIds, context)),
    ...(sendsMail ? [async () => void (timing = await readEmailTiming(context))] : []),
    async () => void (takenSkus = await findTakenSkus(products, context)),
  ];
  await context.dialect.runAll(reads);
  return { stored, timing, takenSkus };
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

async function storeChanges(
  { orders, before, addedUnits, changedUnits, removedUnits, newLines }: OrderChanges,
  { productWrites, timing }: { readonly productWrites: readonly Write[]; readonly timing: EmailTiming | undefined },
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const writes = [...productWrites];
  if (orders.length > 0) writes.push(() => saveOrders(orders, context));
  const fields = orders.map((order) => order.fields);
  if (before.length > 0) writes.push(() => updateOrderEmails(before, fields, context));
  if (addedUnits.length > 0) {
    const added = { accountId: accountOf(context).id, day: dayOf(nowMs), added: addedUnits.length };
    writes.push(
      () => countPurchases(transaction, dialect, added),
      () => saveUnits(addedUnits, context),
    );
  }
  if (timing && newLines.length > 0) writes.push(() => queueOrderEmails(newLines, timing, context));
  if (changedUnits.length > 0) writes.push(() => saveUnits(changedUnits, context));
  await dialect.runAll(writes);
  if (removedUnits.length > 0) await removeUnits(removedUnits, context);
}

async function saveOrders(orders: OrderChanges["orders"], context: HandlerContext): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const rows = JSON.stringify(orders.map(toOrderRow));
  await saveOrderRows(transaction, dialect, { accountId: accountOf(context).id, nowMs, rows });
}

/** In the order of `orderColumns`. */
function toOrderRow({ fields, source }: OrderChanges["orders"][number]): readonly unknown[] {
  const { order_id, email, customer_name, order_date, currency_iso, user_reference } = fields;
  const { platform, sendsMail } = source;
  return [order_id, email, customer_name, order_date, currency_iso, user_reference, platform, Number(sendsMail)];
}

const saveOrderRows = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into orders (account_id, created_at, order_id, email, customer_name, order_date, currency_iso,
      user_reference, platform, sends_mail)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), order_id, email, customer_name,
      order_date, currency_iso, user_reference, platform, sends_mail
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
export const saveUnitRows = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into purchases (account_id, created_at, order_row, product_row, unit, price)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), orders.id, products.id,
      batch.unit, batch.price
    from ${batchOf(purchaseColumns, slot("rows"), dialect)} cross join orders cross join products
    where orders.account_id = ${slot("accountId")} and orders.order_id = batch.order_id
      and products.account_id = ${slot("accountId")} and products.product_id = batch.product_id
    ${dialect.inBatchOrder}
    on conflict (account_id, order_row, product_row, unit) do update set price = excluded.price`,
);

async function removeUnits(units: readonly StoredUnit[], context: HandlerContext): Promise<void> {
  const { transaction, dialect } = context;
  const { id: accountId } = accountOf(context);
  await deleteUnits(transaction, dialect, { accountId, rows: JSON.stringify(units.map(({ id }) => [id])) });
  for (const day of new Set(units.map(({ created_at }) => dayOf(created_at)))) {
    const removed = units.filter(({ created_at }) => dayOf(created_at) === day).length;
    await uncountPurchases(transaction, dialect, { accountId, day, removed });
  }
}

const deleteUnits = createStatement<{ accountId: number; rows: string }>(
  (slot, dialect) => sql`
    delete from purchases where account_id = ${slot("accountId")}
      and id in (select batch.id from ${batchOf<{ id: number }>({ id: "integer" }, slot("rows"), dialect)})`,
);

/** Counts purchases before they are stored, so that the first of a day is preceded by those of other days. */
export const countPurchases = createDeferredStatement<{ accountId: number; day: number; added: number }>(
  (slot) => sql`
    insert into purchase_days (account_id, day, first_id, purchases)
    select cast(${slot("accountId")} as bigint), cast(${slot("day")} as bigint), coalesce(max(id), 0) + 1,
      cast(${slot("added")} as bigint)
    from purchases where account_id = ${slot("accountId")}
    on conflict (account_id, day) do update set purchases = purchase_days.purchases + excluded.purchases`,
);

const uncountPurchases = createDeferredStatement<{ accountId: number; day: number; removed: number }>(
  (slot) => sql`
    update purchase_days set purchases = purchases - ${slot("removed")}
    where account_id = ${slot("accountId")} and day = ${slot("day")}`,
);
