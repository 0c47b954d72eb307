import type { Selectable } from "kysely";
import { accountTables } from "./tables/accounts.ts";
import type { RowsOf, Table } from "./tables/columns.ts";
import { customerTables } from "./tables/customers.ts";
import { emailTables } from "./tables/emails.ts";
import { orderTables } from "./tables/orders.ts";
import { productTables } from "./tables/products.ts";
import { questionTables } from "./tables/questions.ts";
import { reviewTables } from "./tables/reviews.ts";
import { searchTables } from "./tables/search.ts";
import { webhookTables } from "./tables/webhooks.ts";

/**
 * All tables of the newest schema; the first one is that to which the others refer. In all dialects, times are milliseconds
 * since the epoch (UTC), and flags are 0 or 1.
 */
export const tables = {
  ...accountTables,
  ...customerTables,
  ...productTables,
  ...orderTables,
  ...reviewTables,
  ...questionTables,
  ...emailTables,
  ...webhookTables,
  ...searchTables,
};

export interface Tables extends RowsOf<typeof tables> {}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>;

/** The columns of a batch that has some columns of a table, in the given order. */
export function batchColumns<T extends keyof Tables, C extends keyof Row<T> & string>(
  table: T,
  names: readonly C[],
): { readonly [Name in C]: "text" | "integer" } {
  const { columns }: Table = tables[table];
  const types = names.map((name) => [name, columns[name]?.type === "text" ? "text" : "integer"]);
  return Object.fromEntries(types) as { readonly [Name in C]: "text" | "integer" };
}
