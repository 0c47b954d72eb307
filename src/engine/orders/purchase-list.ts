import type * as z from "zod";
import { type contract, lineColumns, lineDetails, orderDetails, purchasePage } from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { dayMs } from "../../contract/time.ts";
import { dayOf, iso } from "../kernel/times.ts";

type Query = z.output<typeof contract.orders.list.input>;
type Listed = z.output<typeof contract.orders.list.output>;

/**
 * Lists purchases by id.
 * Source: spec "Orders (purchases)". Assumed: `since_id` is the lowest ID listed; `since_date` refers to `created_at`;
 * `count` counts purchases; `page` starts at 1; `total_purchases` counts all purchases since `since_date`;
 * `product_sku` is the store's product ID; name, URL, and description are the product's current ones.
 */
export async function listPurchases(query: Query, context: HandlerContext): Promise<Listed> {
  const since = query.since_date === undefined ? undefined : Date.parse(query.since_date);
  const { firstId, total } = await findRange(since, context);
  const count = Math.min(query.count ?? purchasePage.default, purchasePage.max);
  const skipped = (Math.max(query.page ?? 1, 1) - 1) * count;
  const fromId = Math.max(query.since_id ?? 0, firstId);
  const offset = Math.min(skipped, Number.MAX_SAFE_INTEGER);
  const found = await selectPurchases({ fromId, since, count, offset }, context)
    .$if(query.details === true, (listed) => listed.select(detailColumns))
    .execute();
  return { purchases: found.map(toPurchaseRecord), total_purchases: total };
}

/** Converts the times of a row. */
export function toPurchaseRecord<R extends { readonly order_date: number; readonly created_at: number }>(row: R) {
  return Object.assign(row, { order_date: iso(row.order_date), created_at: iso(row.created_at) });
}

/** Reads the first ID and the total from the daily counts, without scanning the purchases of other days. */
async function findRange(
  since: number | undefined,
  context: HandlerContext,
): Promise<{ firstId: number; total: number }> {
  const days = context.transaction
    .selectFrom("purchase_days")
    .select(({ fn }) => [
      fn.min<number | bigint | null>("first_id").as("firstId"),
      fn.sum<number | bigint | null>("purchases").as("total"),
    ])
    .where("account_id", "=", accountOf(context).id);
  const { firstId, total } = await (
    since === undefined ? days : days.where("day", ">=", dayOf(since))
  ).executeTakeFirstOrThrow();
  const earlier = since === undefined ? 0 : await countEarlierThatDay(since, context);
  return { firstId: Number(firstId ?? 0), total: Number(total ?? 0) - earlier };
}

/** Counts the purchases of a day before a time of that day. */
async function countEarlierThatDay(since: number, context: HandlerContext): Promise<number> {
  const day = dayOf(since);
  if (since === day * dayMs) return 0;
  const days = context.transaction
    .selectFrom("purchase_days")
    .select("first_id")
    .where("account_id", "=", accountOf(context).id);
  const first = await days.where("day", "=", day).executeTakeFirst();
  if (!first) return 0;
  const next = await days
    .where("day", ">", day)
    .where("first_id", ">", first.first_id)
    .orderBy("day")
    .limit(1)
    .executeTakeFirst();
  const { purchases } = await context.transaction
    .selectFrom("purchases")
    .select(({ fn }) => fn.countAll<number | bigint>().as("purchases"))
    .where("account_id", "=", accountOf(context).id)
    .where("id", ">=", first.first_id)
    .$if(next !== undefined, (found) => found.where("id", "<", next?.first_id ?? 0))
    .where("created_at", ">=", day * dayMs)
    .where("created_at", "<", since)
    .executeTakeFirstOrThrow();
  return Number(purchases);
}

type DetailColumn = (typeof lineDetails)[number];

/** The columns that `details` adds: the order's, the unit's price, and the product's. */
export const detailColumns = [
  "orders.platform",
  ...orderDetails.map((name) => `orders.${name}` as const),
  ...lineDetails.map((column) => {
    const source = column === "product_price" ? "purchases.price" : `products.${lineColumns[column]}`;
    return `${source} as ${column}` as `products.name as ${DetailColumn}`;
  }),
] as const;

interface Page {
  readonly fromId: number;
  readonly since: number | undefined;
  readonly count: number;
  readonly offset: number;
}

/** The query for a page. Rows before the page are skipped using only the account's index of IDs, without joins. */
export function selectPurchases({ fromId, since, count, offset }: Page, context: HandlerContext) {
  const listed = context.transaction
    .selectFrom("purchases")
    .where("purchases.account_id", "=", accountOf(context).id)
    .$if(since !== undefined, (all) => all.where("purchases.created_at", ">=", since ?? 0))
    .orderBy("purchases.id");
  const first = listed.select("purchases.id").where("purchases.id", ">=", fromId).limit(1).offset(offset);
  return (
    selectPurchaseRecords(context)
      // If the clock was set back, a later ID can have an earlier date.
      .$if(since !== undefined, (all) => all.where("purchases.created_at", ">=", since ?? 0))
      .where("purchases.id", ">=", first)
      .orderBy("purchases.id")
      .limit(count)
  );
}

/** Selects the account's purchases with their orders and products. */
export function selectPurchaseRecords(context: HandlerContext) {
  return context.transaction
    .selectFrom("purchases")
    .innerJoin("orders", (join) =>
      join.onRef("orders.account_id", "=", "purchases.account_id").onRef("orders.id", "=", "purchases.order_row"),
    )
    .innerJoin("products", (join) =>
      join.onRef("products.account_id", "=", "purchases.account_id").onRef("products.id", "=", "purchases.product_row"),
    )
    .select([
      "purchases.id",
      "orders.email as user_email",
      "orders.customer_name as user_name",
      "orders.order_id",
      "products.product_id as product_sku",
      "products.name as product_name",
      "products.url as product_url",
      "orders.order_date",
      "products.description as product_description",
      "purchases.created_at",
    ])
    .where("purchases.account_id", "=", accountOf(context).id);
}
