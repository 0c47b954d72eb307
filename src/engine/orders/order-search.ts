import { type RawBuilder, sql } from "kysely";
import type * as z from "zod";
import {
  type contract,
  emailKeyOf,
  type FoundOrder,
  invalidField,
  recordNotFound,
  searchPage,
} from "../../contract/index.ts";
import { readCursor, writeCursor } from "../kernel/lists/cursor.ts";
import { batchOfIds } from "../../storage/batch.ts";
import { findByPart, SearchedText } from "../kernel/lists/part-search.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { dayOf, iso } from "../kernel/times.ts";
import { findProductRow } from "../products/product-lookup.ts";
import { orderFieldNames } from "./order-rows.ts";
import { detailColumns, selectPurchaseRecords, toPurchaseRecord } from "./purchase-list.ts";

type Operation = typeof contract.orders.search;
type Query = z.output<Operation["input"]>;

/** Lists order lines by ID. Addresses of orders must be indexed. */
export async function searchOrders(query: Query, context: HandlerContext): Promise<z.output<Operation["output"]>> {
  const size = Math.min(query.limit ?? searchPage.default, searchPage.max);
  if (size === 0) throw invalidField("limit", "must be at least 1");
  if (query.search !== undefined)
    return searchByPart(query, { searched: new SearchedText(query.search), size }, context);
  // One more, to find out whether there is another page.
  const found = await selectFound(query, await listConditions(query, context), context)
    .limit(size + 1)
    .execute();
  const last = found[size - 1];
  const next_page_info = found.length > size && last ? writeCursor([last.id]) : null;
  return { purchases: found.slice(0, size).map(toPurchaseRecord), pagination: { next_page_info } };
}

/** Lists the lines of the orders that contain a text: by order, and the lines of an order in the same direction. */
async function searchByPart(
  query: Query,
  { searched, size }: { readonly searched: SearchedText; readonly size: number },
  context: HandlerContext,
): Promise<z.output<Operation["output"]>> {
  const { page_info, sort } = query;
  const filters = { ...query, page_info: undefined };
  const sign = sort === "oldest" ? 1 : -1;
  const [lastOrder, lastId = 0] = page_info === undefined ? [] : readCursor(page_info, 2);
  const isNext = ({ id, order_row }: { readonly id: number; readonly order_row: number }) =>
    lastOrder === undefined || sign * (order_row - lastOrder || id - lastId) > 0;
  const conditions = await listConditions(filters, context);
  const readLines = async (orders: readonly RawBuilder<boolean>[]) => {
    const lines = await selectFound(filters, [...conditions, ...orders], context)
      .select("purchases.order_row")
      .execute();
    return lines.filter(isNext).toSorted((a, b) => sign * (a.order_row - b.order_row || a.id - b.id));
  };
  const found: Awaited<ReturnType<typeof readLines>> = [];
  if (isOfFewOrders(query)) {
    const lines = await readLines([]);
    found.push(...lines.filter((line) => searched.isIn([line.order_id, line.user_email, line.user_name].join("\n"))));
  } else {
    // Lines of the last order may follow.
    const afterId = lastOrder === undefined ? undefined : lastOrder - sign;
    const course = { direction: sort === "oldest" ? "up" : "down", afterId, count: size + 1 } as const;
    for await (const ids of findByPart("orders", searched, course, context)) {
      const batch = sql`select batch.id from ${batchOfIds(ids, context.dialect)}`;
      found.push(...(await readLines([sql<boolean>`purchases.order_row in (${batch})`])));
      if (found.length > size) break;
    }
  }
  const last = found[size - 1];
  const next_page_info = found.length > size && last ? writeCursor([last.order_row, last.id]) : null;
  const page = found.slice(0, size).map(({ order_row: _row, ...line }) => toPurchaseRecord(line));
  return { purchases: page, pagination: { next_page_info } };
}

function selectFound(query: Query, conditions: readonly RawBuilder<boolean>[], context: HandlerContext) {
  // An expression, so that no index is used for the order.
  const order = isOfOrders(query) ? sql`coalesce(purchases.id, 0)` : sql.ref("purchases.id");
  const records = selectPurchaseRecords(context).select(detailColumns);
  return conditions
    .reduce((selected, condition) => selected.where(condition), records)
    .orderBy(order, query.sort === "oldest" ? "asc" : "desc");
}

const isOfFewOrders = ({ email, order_id }: Query) => email !== undefined || order_id !== undefined;
const isOfOrders = (query: Query) => isOfFewOrders(query) || query.search !== undefined;
const productRow = sql.ref<number>("purchases.product_row");

async function listConditions(query: Query, context: HandlerContext): Promise<readonly RawBuilder<boolean>[]> {
  const { email, product_id, order_id, since_date, until_date, page_info, sort } = query;
  const { id: accountId } = accountOf(context);
  const conditions: RawBuilder<boolean>[] = [];
  if (email !== undefined) {
    conditions.push(sql`purchases.order_row in (select order_emails.order_row from order_emails
      where order_emails.account_id = ${accountId} and order_emails.email_key = ${emailKeyOf(email)})`);
  }
  if (product_id !== undefined) {
    const row = await findProductRow(product_id, context);
    const column = isOfOrders(query) ? context.dialect.withoutIndex(sql.ref("purchases.product_row")) : productRow;
    conditions.push(sql`${column} = ${row}`);
  }
  if (order_id !== undefined) {
    conditions.push(sql`purchases.order_row in (select found.id from orders as found
      where found.account_id = ${accountId} and found.order_id = ${order_id})`);
  }
  if (since_date !== undefined) {
    const [sinceMs, first] = [Date.parse(since_date), await findFirstId(dayOf(Date.parse(since_date)), context)];
    conditions.push(sql`purchases.created_at >= ${sinceMs} and purchases.id >= ${first ?? Number.MAX_SAFE_INTEGER}`);
  }
  if (until_date !== undefined) {
    const [untilMs, next] = [Date.parse(until_date), await findFirstId(dayOf(Date.parse(until_date)) + 1, context)];
    conditions.push(sql`purchases.created_at < ${untilMs}`);
    if (next !== undefined) conditions.push(sql`purchases.id < ${next}`);
  }
  if (page_info !== undefined) {
    const [lastId] = readCursor(page_info, 1);
    conditions.push(sql`purchases.id ${sort === "oldest" ? sql`>` : sql`<`} ${lastId}`);
  }
  return conditions;
}

/** The lowest ID of the purchases that were stored on a day or later. */
async function findFirstId(day: number, context: HandlerContext): Promise<number | undefined> {
  const found = await context.transaction
    .selectFrom("purchase_days")
    .select(({ fn }) => fn.min<number | null>("first_id").as("first"))
    .where("account_id", "=", accountOf(context).id)
    .where("day", ">=", day)
    .executeTakeFirst();
  return found?.first ?? undefined;
}

/**
 * Reads an order with its products, in the order in which they were stored.
 * @throws ServiceError `recordNotFound`
 */
export async function readOrder(orderId: string, context: HandlerContext): Promise<FoundOrder> {
  const { id: accountId } = accountOf(context);
  const order = await context.transaction
    .selectFrom("orders")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("order_id", "=", orderId)
    .executeTakeFirst();
  if (!order) throw recordNotFound("Order", "order_id", orderId);
  const units = await context.transaction
    .selectFrom("purchases")
    .innerJoin("products", (join) =>
      join.onRef("products.account_id", "=", "purchases.account_id").onRef("products.id", "=", "purchases.product_row"),
    )
    .leftJoin("reviews", (join) =>
      join
        .onRef("reviews.account_id", "=", "purchases.account_id")
        .onRef("reviews.order_row", "=", "purchases.order_row")
        .onRef("reviews.product_row", "=", "purchases.product_row"),
    )
    .select(["products.product_id", "products.name", "products.url", "purchases.price", "reviews.id as review_id"])
    .where("purchases.account_id", "=", accountId)
    .where("purchases.order_row", "=", order.id)
    .orderBy(sql`coalesce(purchases.id, 0)`)
    .execute();
  const products = new Map<string, FoundOrder["products"][number]>();
  for (const unit of units) {
    const quantity = (products.get(unit.product_id)?.quantity ?? 0) + 1;
    products.set(unit.product_id, { ...unit, ...products.get(unit.product_id), quantity });
  }
  const { order_id, platform } = order;
  const fields = Object.fromEntries(orderFieldNames.map((name) => [name, order[name]]));
  return {
    order_id,
    platform,
    ...(fields as Omit<Pick<typeof order, (typeof orderFieldNames)[number]>, "order_id">),
    order_date: iso(order.order_date),
    created_at: iso(order.created_at),
    send_mail: order.sends_mail === 1,
    products: [...products.values()],
  };
}
