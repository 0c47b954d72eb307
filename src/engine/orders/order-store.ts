import { sql } from "kysely";
import type { Platform } from "../../contract/index.ts";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import type { CheckedOrder } from "./order-check.ts";
import { queueOrderEmails, readLastPurchase } from "./order-emails.ts";
import { mergeRows, type ProductRow } from "../products/product-row.ts";
import { dropTakenSkus, saveProducts } from "../products/product-store.ts";
import { dayOf } from "../kernel/times.ts";

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

/** The properties that a call specifies for all of its orders. */
export interface OrderSource {
  readonly platform: Platform;
  /** Whether customers receive review requests. */
  readonly sendsMail: boolean;
}

/**
 * Stores orders with their products and purchases, and queues their emails.
 * Source: spec "Orders (purchases)". Assumed: an order that is sent again keeps its fields and purchases, and only gains
 * new purchases; products are updated from the last order that names them, even a repeated one. Only products that are
 * new to an order trigger emails, as specified by the call that adds them.
 */
export async function storeOrders(
  orders: readonly StorableOrder[],
  source: OrderSource,
  context: HandlerContext,
): Promise<void> {
  if (orders.length === 0) return;
  const products = mergeProducts(orders);
  await dropTakenSkus(products, context);
  await saveProducts(products, context);
  await insertOrders(orders, source, context);
  const { transaction, dialect } = context;
  const today = { accountId: accountOf(context).id, day: dayOf(context.nowMs) };
  await openDay(transaction, dialect, today);
  const last = source.sendsMail ? await readLastPurchase(context) : 0;
  const added = await insertPurchases(orders, context);
  if (added === 0) return;
  await countPurchases(transaction, dialect, { ...today, added });
  if (source.sendsMail) await queueOrderEmails(last, context);
}

/** Returns one row per product, in which values of later orders take precedence. */
function mergeProducts(orders: readonly StorableOrder[]): ProductRow[] {
  const rows = new Map<string, ProductRow>();
  for (const { items } of orders) {
    for (const { product } of items) {
      const earlier = rows.get(product[0]);
      rows.set(product[0], earlier ? mergeRows(earlier, product) : product);
    }
  }
  return [...rows.values()];
}

async function insertOrders(
  orders: readonly StorableOrder[],
  { platform, sendsMail }: OrderSource,
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const rows = orders.map(({ head }) => [
    head.order_id,
    head.email,
    head.customer_name,
    head.order_date ? Date.parse(head.order_date) : nowMs,
    head.currency_iso || null,
    head.user_reference || null,
  ]);
  await insertOrderRows(transaction, dialect, {
    accountId: accountOf(context).id,
    platform,
    sendsMail: Number(sendsMail),
    nowMs,
    rows: JSON.stringify(rows),
  });
}

const insertOrderRows = createStatement<{
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
    on conflict (account_id, order_id) do nothing`,
);

async function insertPurchases(orders: readonly StorableOrder[], context: HandlerContext): Promise<number> {
  const rows: unknown[][] = [];
  for (const { head, items } of orders) {
    for (const { product, quantity, price, unitPrices = [] } of items) {
      for (let unit = 1; unit <= quantity; unit += 1) {
        const own = unitPrices[unit - 1];
        rows.push([head.order_id, product[0], unit, own === undefined ? price : own]);
      }
    }
  }
  const { affectedRows } = await insertPurchaseRows(context.transaction, context.dialect, {
    accountId: accountOf(context).id,
    nowMs: context.nowMs,
    rows: JSON.stringify(rows),
  });
  return affectedRows;
}

/** The cross joins make the batch the outer loop, so that purchase IDs are in the order of the call. */
const insertPurchaseRows = createStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into purchases (account_id, created_at, order_row, product_row, unit, price)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), orders.id, products.id,
      batch.unit, batch.price
    from ${batchOf(purchaseColumns, slot("rows"), dialect)} cross join orders cross join products
    where orders.account_id = ${slot("accountId")} and orders.order_id = batch.order_id
      and products.account_id = ${slot("accountId")} and products.product_id = batch.product_id
    ${dialect.inBatchOrder}
    on conflict (order_row, product_row, unit) do nothing`,
);

/** Records, before the first purchase of a day, the lowest ID that the day's purchases can have. */
const openDay = createStatement<{ accountId: number; day: number }>(
  (slot) => sql`
    insert into purchase_days (account_id, day, first_id, purchases)
    select cast(${slot("accountId")} as bigint), cast(${slot("day")} as bigint), coalesce(max(id), 0) + 1, 0
    from purchases where account_id = ${slot("accountId")}
    on conflict (account_id, day) do nothing`,
);

const countPurchases = createStatement<{ accountId: number; day: number; added: number }>(
  (slot) => sql`
    update purchase_days set purchases = purchases + ${slot("added")}
    where account_id = ${slot("accountId")} and day = ${slot("day")}`,
);
