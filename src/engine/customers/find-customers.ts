import { sql } from "kysely";
import type * as z from "zod";
import { type contract, emailKeyOf, type FoundCustomer, searchPage } from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { findByPart, SearchedText } from "../kernel/lists/part-search.ts";
import { iso } from "../kernel/times.ts";

type Query = z.output<typeof contract.customers.find.input>;
interface Found extends Omit<FoundCustomer, "created_at"> {
  readonly id: number;
  readonly created_at: number;
}

/** The records by which customers are found, and the columns of each. */
const columns = {
  orders: sql`customer_name as name, order_id`,
  users: sql`display_name as name, null as order_id`,
  unsubscribers: sql`'' as name, null as order_id`,
};
export const customerTables = Object.keys(columns) as readonly (keyof typeof columns)[];

/**
 * Finds customers by part of a name, an address, or an order ID: the buyers of orders, the authors of texts, and
 * unsubscribers, the newest first.
 */
export async function findCustomers(
  { search, limit = searchPage.default }: Query,
  context: HandlerContext,
): Promise<FoundCustomer[]> {
  const count = Math.min(limit, searchPage.max);
  const searched = new SearchedText(search);
  const found = await context.dialect.runAll(
    customerTables.map((table) => () => findPeople({ table, searched, count }, context)),
  );
  const people = new Map<string, Found>();
  for (const [key, person] of found.flatMap((own) => Array.from(own))) {
    if (!people.has(key)) people.set(key, person);
  }
  const newest = [...people.values()].toSorted((a, b) => b.created_at - a.created_at).slice(0, count);
  return newest.map(({ email, name, order_id, created_at }) => ({
    email,
    name,
    order_id,
    created_at: iso(created_at),
  }));
}

/** Finds the newest record of each customer, by the key of the address. */
async function findPeople(
  { table, searched, count }: { table: keyof typeof columns; searched: SearchedText; count: number },
  context: HandlerContext,
): Promise<ReadonlyMap<string, Found>> {
  const people = new Map<string, Found>();
  for await (const ids of findByPart(table, searched, { direction: "down", count }, context)) {
    const { rows } = await sql<Found>`select id, email, created_at, ${columns[table]} from ${sql.table(table)}
      where account_id = ${accountOf(context).id} and id in (${sql.join(ids)})`.execute(context.transaction);
    for (const row of rows.toSorted((a, b) => b.id - a.id)) {
      const key = emailKeyOf(row.email);
      if (!people.has(key)) people.set(key, row);
    }
    if (people.size >= count) break;
  }
  return people;
}
