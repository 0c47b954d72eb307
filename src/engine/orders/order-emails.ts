import { sql } from "kysely";
import { emailTypeOf } from "../../contract/index.ts";
import { type BatchColumns, batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import { readEmailSettings } from "../accounts/account-settings.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import type { OrderFields, StoredOrder } from "./stored-orders.ts";
import { dayMs } from "../../contract/time.ts";

const category = "map";

/** The `product_row` of an email about a complete order. No product has this row ID. */
export const wholeOrderRow = 0;

/** The ID of the account's last purchase, or 0. */
export async function readLastPurchase(context: HandlerContext): Promise<number> {
  const last = await context.transaction
    .selectFrom("purchases")
    .select("id")
    .where("account_id", "=", accountOf(context).id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.id ?? 0;
}

interface NewLine {
  readonly order_row: number;
  readonly product_row: number;
  readonly email: string;
  readonly customer_name: string;
  readonly order_date: number;
}

const selectNewLines = createStatement<{ accountId: number; after: number }, NewLine>(
  (slot) => sql`
    select purchases.order_row, purchases.product_row, orders.email, orders.customer_name, orders.order_date
    from purchases join orders on orders.id = purchases.order_row
    where purchases.account_id = ${slot("accountId")} and purchases.id > ${slot("after")} and purchases.unit = 1
    order by purchases.id`,
);

interface MailColumns {
  order_row: number;
  product_row: number;
  email: string;
  email_key: string;
  name: string;
  due_at: number;
}

const mailColumns: BatchColumns<MailColumns> = {
  order_row: "integer",
  product_row: "integer",
  email: "text",
  email_key: "text",
  name: "text",
  due_at: "integer",
};

const insertMails = createStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into mails (account_id, category, email_type_id, data, state, created_at, order_row, product_row, email,
      email_key, name, due_at)
    select cast(${slot("accountId")} as bigint), ${sql.lit(category)}, ${sql.lit(emailTypeOf[category])}, '{}',
      'queued', cast(${slot("nowMs")} as bigint), order_row, product_row, email, email_key, name, due_at
    from ${batchOf(mailColumns, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    on conflict (order_row, product_row, category) where order_row is not null do nothing`,
);

/**
 * Queues review requests for the purchases after `after`: one email per product that is new to its order, whatever
 * its quantity, or one per order.
 * Assumed: emails are queued when an order is stored, even if review requests are off at that time; the rules are
 * evaluated when they are due. An order with an email gets no second one for products added later.
 */
export async function queueOrderEmails(after: number, context: HandlerContext): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  const lines = (await selectNewLines(transaction, dialect, { accountId, after })).rows;
  if (lines.length === 0) return;
  const { one_mail_per, due_after_days } = await readEmailSettings(context, accountId);
  // Converted here because SQLite's `lower` only converts ASCII letters.
  const rows = lines.map(({ order_row, product_row, email, customer_name, order_date }) => [
    order_row,
    one_mail_per === "product" ? product_row : wholeOrderRow,
    email,
    email.toLowerCase(),
    customer_name,
    order_date + due_after_days * dayMs,
  ]);
  await insertMails(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(rows) });
}

interface ChangedOrder {
  order_row: number;
  name: string;
  later_ms: number;
}

const changedOrderColumns: BatchColumns<ChangedOrder> = { order_row: "integer", name: "text", later_ms: "integer" };

/** Only moves review requests that were never attempted: a reminder is due some days after its review request. */
const updateMails = createStatement<{ rows: string }>(
  (slot, dialect) => sql`
    update mails set name = batch.name,
      due_at = due_at + case when category = ${sql.lit(category)} and attempts = 0 and worker is null
        then batch.later_ms else 0 end
    from ${batchOf(changedOrderColumns, slot("rows"), dialect)}
    where mails.order_row = batch.order_row and mails.state = 'queued'`,
);

/** Applies the new customer names and dates of stored orders to their queued emails. */
export async function updateOrderEmails(
  before: readonly StoredOrder[],
  after: readonly OrderFields[],
  { transaction, dialect }: HandlerContext,
): Promise<void> {
  const byId = new Map(after.map((fields) => [fields.order_id, fields]));
  const rows = before.flatMap(({ row, fields }) => {
    const { customer_name, order_date } = byId.get(fields.order_id) ?? fields;
    const laterMs = order_date - fields.order_date;
    return customer_name === fields.customer_name && laterMs === 0 ? [] : [[row, customer_name, laterMs]];
  });
  if (rows.length > 0) await updateMails(transaction, dialect, { rows: JSON.stringify(rows) });
}

/** The number of review requests that will be sent, and the date on which the first is due. */
export interface ScheduledEmails {
  readonly queued: number;
  readonly first_due: string | null;
}
