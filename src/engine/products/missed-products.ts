import { sql } from "kysely";
import type * as z from "zod";
import { allMissedProducts, type contract, emailKeyOf, missedPage } from "../../contract/index.ts";
import { batchOf, batchRows } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import { batchColumns, type Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import type { MissedLine } from "./product-check.ts";

/** The skipped lines of an order, and its fields. */
export interface MissedLines {
  readonly order: Readonly<Record<"order_id" | "email" | "customer_name", string>> & { readonly order_date: number };
  readonly lines: readonly MissedLine[];
}

const columns = [
  "order_id",
  "product_sku",
  "product_name",
  "user_email",
  "email_key",
  "user_name",
  "order_date",
] as const;

/**
 * Stores skipped order lines. Lines that are already stored are not changed.
 * Assumed: a line is identified by order and product ID, however often it is sent.
 */
export async function storeMissedProducts(orders: readonly MissedLines[], context: HandlerContext): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const rows = orders.flatMap(({ order: { order_id, email, customer_name, order_date }, lines }) =>
    lines.map(([sku, name]) => [order_id, sku, name, email, emailKeyOf(email), customer_name, order_date]),
  );
  await insertMissed(transaction, dialect, {
    accountId: accountOf(context).id,
    nowMs,
    rows: JSON.stringify(rows),
  });
}

const columnList = sql.join(columns.map((name) => sql.ref(name)));

const insertMissed = createStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into missed_products (account_id, created_at, ${columnList})
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), ${columnList}
    from ${batchOf(batchColumns("missed_products", columns), slot("rows"), dialect)} where true
    on conflict (account_id, order_id, product_sku) do nothing`,
);

type Query = z.output<typeof contract.products.missed.input>;
type Listed = z.output<typeof contract.products.missed.output>;

/**
 * Lists missed products by id.
 * Source: spec "Products". Assumed: `start` counts from 0; `pagination` contains the effective start and size; unknown IDs
 * are ignored; `mail_delivery_date` is null, because no email is sent for a missed product.
 */
export async function listMissedProducts(query: Query, context: HandlerContext): Promise<Listed> {
  const start = query.start ?? 0;
  const size = Math.min(query.size ?? missedPage.default, missedPage.max);
  const ids = query.missed_products_ids.includes(allMissedProducts) ? undefined : readIds(query.missed_products_ids);
  const { total } = await selectMissed(ids, context)
    .select(({ fn }) => fn.countAll<number | bigint>().as("total"))
    .executeTakeFirstOrThrow();
  const found = await selectMissedPage({ ids, start, size }, context).execute();
  return {
    pagination: { total: Number(total), start, size },
    missed_products: found.map(toRecord),
  };
}

function toRecord(row: Row<"missed_products">) {
  return {
    id: row.id,
    product_name: row.product_name,
    product_sku: row.product_sku,
    user_email: row.user_email,
    user_display_name: row.user_name,
    missed_product_date: iso(row.created_at),
    order_id: row.order_id,
    purchase_date: iso(row.order_date),
    mail_delivery_date: null,
  };
}

/** The IDs that can exist. On the wire, IDs may also contain letters and dashes. */
function readIds(ids: readonly string[]): readonly number[] {
  return [...new Set(ids.filter((id) => /^\d{1,15}$/.test(id)).map(Number))];
}

/** Selects the account's missed products, or only those with the given IDs. */
function selectMissed(ids: readonly number[] | undefined, context: HandlerContext) {
  const found = context.transaction.selectFrom("missed_products").where("account_id", "=", accountOf(context).id);
  if (ids === undefined) return found;
  const rows = ids.map((id) => [id]);
  return found.where("id", "in", (eb) =>
    eb.selectFrom(batchRows<{ id: number }>({ id: "integer" }, rows, context.dialect)).select("batch.id"),
  );
}

interface Page {
  /** Undefined for all. */
  readonly ids: readonly number[] | undefined;
  readonly start: number;
  readonly size: number;
}

/** The query for a page. Rows before the page are skipped using only the account's index of IDs. */
export function selectMissedPage({ ids, start, size }: Page, context: HandlerContext) {
  const missed = selectMissed(ids, context).orderBy("id");
  return missed.selectAll().where("id", ">=", missed.select("id").limit(1).offset(start)).limit(size);
}
