import { type RawBuilder, sql } from "kysely";
import { type EmailCategory, emailKeyOf, type EmailSettings, emailTypeOf } from "../../contract/index.ts";
import { batchOfIds, type BatchColumns, batchOf, constantInBatch } from "../../storage/batch.ts";
import { createDeferredStatement } from "../../storage/statement.ts";
import { readEmailSettings } from "../accounts/account-settings.ts";
import { noteDue } from "../kernel/due-times.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { noteChangedTexts } from "../kernel/lists/part-index.ts";
import type { NewLine, OrderChanges } from "./order-merge.ts";
import { dayMs } from "../../contract/time.ts";

const productCategory = "map" satisfies EmailCategory;
const siteCategory = "mail_after_invoice" satisfies EmailCategory;

/** The `product_row` of an email about a complete order. No product has this row ID. */
export const wholeOrderRow = 0;

/** How long after the order date an account's review requests are sent, and whether they are about orders or products. */
export interface EmailTiming {
  readonly one_mail_per: EmailSettings["one_mail_per"];
  readonly delayMs: number;
  /** The delay of requests to review the store; absent if the account sends none. */
  readonly siteDelayMs?: number | undefined;
}

export async function readEmailTiming(context: HandlerContext): Promise<EmailTiming> {
  const { one_mail_per, due_after_days, send_site_requests, site_request_after_days } = await readEmailSettings(
    context,
    accountOf(context).id,
  );
  const siteDelayMs = send_site_requests ? site_request_after_days * dayMs : undefined;
  return { one_mail_per, delayMs: due_after_days * dayMs, siteDelayMs };
}

interface LineColumns {
  order_id: string;
  email_key: string;
  product_id: string;
}

const lineColumns: BatchColumns<LineColumns> = { order_id: "text", email_key: "text", product_id: "text" };

interface InsertValues {
  readonly accountId: number;
  readonly nowMs: number;
  readonly delayMs: number;
  readonly rows: string;
}

type Slots = Parameters<Parameters<typeof createDeferredStatement<InsertValues>>[0]>[0];

/** Creates the statement that queues an email per row: about the order, or about the product. */
const createInsert = (
  category: EmailCategory,
  productRow: RawBuilder<unknown> = sql.lit(wholeOrderRow),
  withProduct: (slot: Slots) => RawBuilder<unknown> = () => sql`where true`,
) =>
  createDeferredStatement<InsertValues>(
    (slot, dialect) => sql`
      insert into mails (account_id, category, email_type_id, data, state, created_at, order_row, product_row, email,
        email_key, name, due_at)
      select cast(${slot("accountId")} as bigint), ${sql.lit(category)}, ${sql.lit(emailTypeOf[category])}, '{}',
        'queued', cast(${slot("nowMs")} as bigint), orders.id, ${productRow}, orders.email, batch.email_key,
        orders.customer_name, orders.order_date + cast(${slot("delayMs")} as bigint)
      from ${batchOf(lineColumns, slot("rows"), dialect)} cross join orders ${withProduct(slot)}
        and orders.account_id = ${slot("accountId")} and orders.order_id = batch.order_id
      ${dialect.inBatchOrder}
      on conflict (account_id, order_row, product_row, category, resends) where order_row is not null do nothing`,
  );

const inserts = {
  order: createInsert(productCategory),
  site: createInsert(siteCategory),
  product: createInsert(
    productCategory,
    sql`products.id`,
    (slot) => sql`cross join products
      where products.account_id = ${slot("accountId")} and products.product_id = batch.product_id`,
  ),
};

/**
 * Queues review requests for line items that are new to their orders: one email per product, whatever its quantity, or
 * one per order; and a request to review the store per order, if the account sends them. The orders and products must be
 * stored first.
 * Assumed: emails are queued when an order is stored, even if review requests are off at that time; the rules are
 * evaluated when they are due. An order with an email gets no second one for products added later.
 */
export async function queueOrderEmails(
  lines: readonly NewLine[],
  { one_mail_per, delayMs, siteDelayMs }: EmailTiming,
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const listed = lines.map(({ order_id, email, product_id }) => [order_id, emailKeyOf(email), product_id] as const);
  const ofOrders = () => [...new Map(listed.map((row) => [row[0], row])).values()];
  const { id: accountId } = accountOf(context);
  const rows = JSON.stringify(one_mail_per === "order" ? ofOrders() : listed);
  await inserts[one_mail_per](transaction, dialect, { accountId, nowMs, delayMs, rows });
  if (siteDelayMs !== undefined) {
    const siteRows = JSON.stringify(ofOrders());
    await inserts.site(transaction, dialect, { accountId, nowMs, delayMs: siteDelayMs, rows: siteRows });
  }
  await noteDue("emails_due_at", accountId, context);
}

interface ChangedOrder {
  order_row: number;
  name: string;
  later_ms: number;
}

const changedOrderColumns: BatchColumns<ChangedOrder> = { order_row: "integer", name: "text", later_ms: "integer" };

/** Only moves requests that were never attempted: a reminder is due some days after its review request. */
const updateMails = createDeferredStatement<{ accountId: number; rows: string }>(
  (slot, dialect) => sql`
    update mails set name = batch.name,
      due_at = due_at + case when category in (${sql.lit(productCategory)}, ${sql.lit(siteCategory)}) and attempts = 0 and worker is null
        then batch.later_ms else 0 end
    from ${batchOf(changedOrderColumns, slot("rows"), dialect)}
    where mails.account_id = ${constantInBatch(slot("accountId"), "order_row")} and mails.order_row = batch.order_row
      and ${dialect.withoutIndex(sql.ref("mails.state"))} = 'queued'`,
);

/** Applies the new customer names and dates of stored orders to their queued emails. */
export async function updateOrderEmails(changed: OrderChanges["changed"], context: HandlerContext): Promise<void> {
  const { transaction, dialect } = context;
  const rows = changed.flatMap(({ before: { row, fields }, after: { customer_name, order_date } }) => {
    const laterMs = order_date - fields.order_date;
    return customer_name === fields.customer_name && laterMs === 0 ? [] : [[row, customer_name, laterMs]];
  });
  if (rows.length === 0) return;
  const { id: accountId } = accountOf(context);
  await updateMails(transaction, dialect, { accountId, rows: JSON.stringify(rows) });
  await noteDue("emails_due_at", accountId, context);
  const renamed = changed.filter(({ before, after }) => before.fields.customer_name !== after.customer_name);
  await noteRenamed(
    renamed.map(({ before }) => before.row),
    context,
  );
}

/** Notes that the names in orders and their emails have changed. */
async function noteRenamed(orderRows: readonly number[], context: HandlerContext): Promise<void> {
  if (orderRows.length === 0) return;
  const orders = batchOfIds(orderRows, context.dialect);
  await noteChangedTexts("orders", orderRows, context);
  const mails = sql<{ id: number }>`select mails.id from ${orders} cross join mails
    where mails.account_id = ${accountOf(context).id} and mails.order_row = batch.id`;
  const { rows } = await mails.execute(context.transaction);
  await noteChangedTexts(
    "mails",
    rows.map(({ id }) => id),
    context,
  );
}

/** The number of review requests that will be sent, and the date on which the first is due. */
export interface ScheduledEmails {
  readonly queued: number;
  readonly first_due: string | null;
}
