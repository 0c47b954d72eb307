import type { Harness } from "./backends.ts";

/** The rows of an account without their IDs, as texts that name products and orders instead. */
export async function readRows(
  accountId: number,
  { database: { db } }: Pick<Harness, "database">,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const of = (table: "orders" | "products" | "missed_products" | "purchase_days" | "unsubscribers") =>
    db.selectFrom(table).selectAll().where("account_id", "=", accountId).execute();
  const named = (table: "mails" | "purchases") =>
    db
      .selectFrom(table)
      .innerJoin("orders", "orders.id", `${table}.order_row`)
      .leftJoin("products", "products.id", `${table}.product_row`)
      .selectAll(table)
      .select(["orders.order_id", "products.product_id"])
      .where(`${table}.account_id`, "=", accountId)
      .execute();
  const tables = {
    orders: await of("orders"),
    products: await of("products"),
    missed: await of("missed_products"),
    unsubscribers: await of("unsubscribers"),
    days: await of("purchase_days"),
    mails: await named("mails"),
    purchases: await named("purchases"),
  };
  const toText = (row: object) => {
    const omitted = new Set(["id", "account_id", "order_row", "product_row", "first_id"]);
    return JSON.stringify(Object.entries(row).filter(([name]) => !omitted.has(name)));
  };
  return Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.map(toText).toSorted()]));
}
