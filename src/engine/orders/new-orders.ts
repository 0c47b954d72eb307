import { sql } from "kysely";
import { batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { mergeProducts } from "../products/product-row.ts";
import { prepareProducts } from "../products/product-store.ts";
import type { NewOrders } from "./short-form.ts";
import { countPurchases, orderFieldColumns, saveUnitRows } from "./order-store.ts";
import { dayOf } from "../kernel/times.ts";

/** One of the orders is stored already, so that the complete call is needed. Nothing of it is stored. */
export class NotNewError extends Error {
  override readonly name = "NotNewError";
}

const insertOrders = createStatement<{ accountId: number; nowMs: number; platform: string; rows: string }>(
  (slot, dialect) => sql`
    insert into orders (account_id, created_at, order_id, email, customer_name, order_date, currency_iso,
      user_reference, platform, sends_mail)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), order_id, email, customer_name,
      order_date, currency_iso, user_reference, cast(${slot("platform")} as text), 0
    from ${batchOf(orderFieldColumns, slot("rows"), dialect)} where true
    on conflict (account_id, order_id) do nothing`,
);

/**
 * Stores the orders of a call as `storeOrders` does if none of them is stored yet and none of them causes emails.
 * @throws NotNewError if one is stored, or is contained twice, and from then on
 */
export async function storeNewOrders(
  { platform, count, orders, units, products, series }: NewOrders,
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  if (series.isRefused) throw new NotNewError();
  const productWrites = await prepareProducts(mergeProducts(products), context);
  let inserted = 0;
  await dialect.runAll([
    ...productWrites,
    async () => {
      const values = { accountId, nowMs, platform, rows: orders };
      inserted = (await insertOrders(transaction, dialect, values)).affectedRows;
    },
    () => countPurchases(transaction, dialect, { accountId, day: dayOf(nowMs), added: count.units }),
    () => saveUnitRows(transaction, dialect, { accountId, nowMs, rows: units }),
  ]);
  if (inserted === count.orders) return;
  series.isRefused = true;
  throw new NotNewError();
}
