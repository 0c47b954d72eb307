import { sql } from "kysely";
import type { orderFields } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { letOthersRun } from "../../storage/loop-turn.ts";
import { createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { orderFieldNames, type OrderRows } from "./order-rows.ts";

/** The fields of an order as they are stored, without its products. */
export type OrderFields = Pick<Row<"orders">, keyof typeof orderFields>;

export interface StoredUnit {
  readonly id: number;
  readonly price: string | null;
  readonly created_at: number;
}

export interface StoredOrder {
  readonly row: number;
  readonly fields: OrderFields;
  /** Product ID to its units, in order. */
  readonly units: Map<string, StoredUnit[]>;
}

/** Reads the orders that are stored already, by order ID. */
export async function readStoredOrders(
  { orders }: Pick<OrderRows, "orders">,
  context: HandlerContext,
): Promise<ReadonlyMap<string, StoredOrder>> {
  const { transaction, dialect } = context;
  const { id: accountId } = accountOf(context);
  const { rows } = await selectOrders(transaction, dialect, { accountId, rows: orders });
  const byRow = new Map<number, StoredOrder>();
  for (const { row, ...fields } of rows) byRow.set(row, { row, fields, units: new Map() });
  if (byRow.size > 0) {
    const orderRows = JSON.stringify([...byRow.keys()].map((row) => [row]));
    const { rows: units } = await selectUnits(transaction, dialect, { accountId, rows: orderRows });
    for (const { order_row, product_id, ...unit } of units) {
      await letOthersRun();
      const known = byRow.get(order_row)?.units;
      const others = known?.get(product_id);
      if (others) others.push(unit);
      else known?.set(product_id, [unit]);
    }
  }
  return new Map([...byRow.values()].map((order) => [order.fields.order_id, order]));
}

/** The batch contains an order twice if the call does. */
const selectOrders = createStatement<{ accountId: number; rows: string }, OrderFields & { readonly row: number }>(
  (slot, dialect) => sql`
    select orders.id as "row", ${sql.join(orderFieldNames.map((name) => sql.ref(`orders.${name}`)))}
    from ${batchOf<{ order_id: string }>({ order_id: "text" }, slot("rows"), dialect)} cross join orders
    where orders.account_id = ${slot("accountId")} and orders.order_id = batch.order_id`,
);

type UnitRow = StoredUnit & { readonly order_row: number; readonly product_id: string };

const selectUnits = createStatement<{ accountId: number; rows: string }, UnitRow>(
  (slot, dialect) => sql`
    select purchases.id, purchases.order_row, products.product_id, purchases.price, purchases.created_at
    from ${batchOf<{ order_row: number }>({ order_row: "integer" }, slot("rows"), dialect)}
      cross join purchases cross join products
    where purchases.account_id = ${slot("accountId")} and purchases.order_row = batch.order_row
      and products.account_id = purchases.account_id and products.id = purchases.product_row
    order by purchases.order_row, purchases.product_row, purchases.unit`,
);
