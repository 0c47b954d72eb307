import { join } from "node:path";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";

/** The numbers of rows in an embedded database, read from its tables without the program. */
export interface RowCounts {
  readonly orders: number;
  readonly orderIds: number;
  readonly purchases: number;
  readonly coupons: number;
  readonly couponCodes: number;
  readonly products: number;
  readonly unsubscribers: number;
}

/** Counts the rows in the database of a home that is not in use. */
export function countRows(homeFolder: string): RowCounts {
  const file = new SqliteFile(join(homeFolder, "starpost.db"));
  try {
    const count = (what: string) => Number(Object.values(file.all(`select ${what}`)[0] ?? {})[0]);
    return {
      orders: count("count(*) from orders"),
      orderIds: count("count(distinct order_id) from orders"),
      purchases: count("count(*) from purchases"),
      coupons: count("count(*) from coupons"),
      couponCodes: count("count(distinct code) from coupons"),
      products: count("count(*) from products"),
      unsubscribers: count("count(*) from unsubscribers"),
    };
  } finally {
    file.close();
  }
}
