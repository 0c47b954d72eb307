import { sql } from "kysely";
import type { Platform } from "../contract/index.ts";
import { batchRows, type BatchColumns } from "../storage/batch.ts";
import { accountOf, type HandlerContext } from "./handler.ts";
import type { CheckedOrder } from "./order-check.ts";
import { overlay, type ProductRow } from "./product-row.ts";
import { dropTakenSkus, saveProducts } from "./product-store.ts";

export type StorableOrder = NonNullable<CheckedOrder["order"]>;

interface OrderColumns {
  order_id: string;
  email: string;
  customer_name: string;
  order_date: number;
  currency_iso: string;
  user_reference: string;
}

interface PurchaseColumns {
  order_id: string;
  product_id: string;
  unit: number;
  price: string;
}

const orderColumns: BatchColumns<OrderColumns> = {
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

const dayMs = 86_400_000;

/**
 * Stores orders, their products and their purchases.
 * Source: spec "Orders (purchases)". Assumed: an order sent again keeps its head and its purchases, and is given those
 * that are new; the products are as the last order names them, also an order sent again.
 */
export async function storeOrders(
  orders: readonly StorableOrder[],
  platform: Platform,
  context: HandlerContext,
): Promise<void> {
  if (orders.length === 0) return;
  const products = gatherProducts(orders);
  await dropTakenSkus(products, context);
  await saveProducts(products, context);
  await insertOrders(orders, platform, context);
  await openDay(context);
  const added = await insertPurchases(orders, context);
  await countPurchases(added, context);
}

/** One row a product: what the last order gives, over what earlier ones gave. */
function gatherProducts(orders: readonly StorableOrder[]): ProductRow[] {
  const rows = new Map<string, ProductRow>();
  for (const { items } of orders) {
    for (const { product } of items) {
      const earlier = rows.get(product[0]);
      rows.set(product[0], earlier ? overlay(earlier, product) : product);
    }
  }
  return [...rows.values()];
}

async function insertOrders(
  orders: readonly StorableOrder[],
  platform: Platform,
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const rows = orders.map(({ head }) => [
    head.order_id,
    head.email,
    head.customer_name,
    head.order_date === undefined ? nowMs : Date.parse(head.order_date),
    head.currency_iso || null,
    head.user_reference || null,
  ]);
  await sql`
    insert into orders (account_id, platform, created_at, order_id, email, customer_name, order_date,
      currency_iso, user_reference)
    select cast(${accountOf(context).id} as bigint), cast(${platform} as text), cast(${nowMs} as bigint),
      order_id, email, customer_name, order_date, currency_iso, user_reference
    from ${batchRows(orderColumns, rows, dialect)} where true
    on conflict (account_id, order_id) do nothing`.execute(transaction);
}

/** The cross joins keep the batch outermost, so that purchases get their ids in the order of the call. */
async function insertPurchases(orders: readonly StorableOrder[], context: HandlerContext): Promise<number> {
  const { transaction, dialect, nowMs } = context;
  const accountId = accountOf(context).id;
  const rows: unknown[][] = [];
  for (const { head, items } of orders) {
    for (const { product, quantity, price } of items) {
      for (let unit = 1; unit <= quantity; unit += 1) rows.push([head.order_id, product[0], unit, price]);
    }
  }
  const { numAffectedRows } = await sql`
    insert into purchases (account_id, created_at, order_row, product_row, unit, price)
    select cast(${accountId} as bigint), cast(${nowMs} as bigint), orders.id, products.id, batch.unit, batch.price
    from ${batchRows(purchaseColumns, rows, dialect)} cross join orders cross join products
    where orders.account_id = ${accountId} and orders.order_id = batch.order_id
      and products.account_id = ${accountId} and products.product_id = batch.product_id
    on conflict (order_row, product_row, unit) do nothing`.execute(transaction);
  return Number(numAffectedRows ?? 0n);
}

/** Notes, before the first purchase of a day, the lowest id that the day's purchases can have. */
async function openDay(context: HandlerContext): Promise<void> {
  const accountId = accountOf(context).id;
  await sql`
    insert into purchase_days (account_id, day, first_id, purchases)
    select cast(${accountId} as bigint), cast(${dayOf(context.nowMs)} as bigint), coalesce(max(id), 0) + 1, 0
    from purchases where account_id = ${accountId}
    on conflict (account_id, day) do nothing`.execute(context.transaction);
}

async function countPurchases(added: number, context: HandlerContext): Promise<void> {
  if (added === 0) return;
  await context.transaction
    .updateTable("purchase_days")
    .set((eb) => ({ purchases: eb("purchases", "+", added) }))
    .where("account_id", "=", accountOf(context).id)
    .where("day", "=", dayOf(context.nowMs))
    .execute();
}

/** Days since the epoch, UTC. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}
