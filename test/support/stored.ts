import { join } from "node:path";
import { SqliteFile } from "../../src/storage/sqlite-file.ts";

/** What an embedded database holds, counted by its tables and not by way of the program. */
export interface Stored {
  readonly orders: number;
  readonly orderIds: number;
  readonly purchases: number;
  readonly coupons: number;
  readonly couponCodes: number;
  readonly products: number;
  readonly unsubscribers: number;
}

const counted: Readonly<Record<keyof Stored, string>> = {
  orders: "count(*) from orders",
  orderIds: "count(distinct order_id) from orders",
  purchases: "count(*) from purchases",
  coupons: "count(*) from coupons",
  couponCodes: "count(distinct code) from coupons",
  products: "count(*) from products",
  unsubscribers: "count(*) from unsubscribers",
};

/** Counts in the database of a home in which nothing runs. */
export function countStored(homeFolder: string): Stored {
  const file = new SqliteFile(join(homeFolder, "starpost.db"));
  try {
    const entries = Object.entries(counted).map(([name, what]) => [
      name,
      Number(file.all(`select ${what}`).map((row) => Object.values(row)[0])[0]),
    ]);
    return Object.fromEntries(entries) as unknown as Stored;
  } finally {
    file.close();
  }
}
