import type * as z from "zod";
import { type contract, emailKeyOf, type FoundCustomer, searchPage } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { findByPart, SearchedText } from "../kernel/lists/part-search.ts";
import { iso } from "../kernel/times.ts";

type Query = z.output<typeof contract.customers.find.input>;
type Found = Omit<FoundCustomer, "created_at"> & { readonly created_at: number };

/** The records by which customers are found. */
export const customerTables = ["orders", "users", "unsubscribers"] as const;

/**
 * Finds customers by part of a name, an address, or an order ID: the buyers of orders, the authors of texts, and
 * unsubscribers. The newest records of each kind come first.
 */
export async function findCustomers(
  { search, limit = searchPage.default }: Query,
  context: HandlerContext,
): Promise<FoundCustomer[]> {
  const count = Math.min(limit, searchPage.max);
  const searched = new SearchedText(search);
  const found = customerTables.map(() => new Map<string, Found>());
  const searches = customerTables.map((table, at) => async () => {
    for await (const ids of findByPart(table, searched, { direction: "down" }, context)) {
      const rows = new Map((await readFound(table, ids, context)).map((row) => [row.id, row]));
      for (const { id: _id, ...row } of ids.flatMap((id) => rows.get(id) ?? [])) {
        const key = emailKeyOf(row.email);
        if (found[at]?.has(key) === false) found[at].set(key, row);
      }
      if ((found[at]?.size ?? 0) >= count) break;
    }
  });
  await context.dialect.runAll(searches);
  const people = new Map<string, Found>();
  for (const [key, row] of found.flatMap((own) => [...own])) if (!people.has(key)) people.set(key, row);
  const newestFirst = [...people.values()].toSorted((a, b) => b.created_at - a.created_at);
  return newestFirst.slice(0, count).map((row) => ({ ...row, created_at: iso(row.created_at) }));
}

async function readFound(
  table: (typeof customerTables)[number],
  ids: readonly number[],
  { transaction, ...context }: HandlerContext,
): Promise<readonly (Found & { readonly id: number })[]> {
  const { id: accountId } = accountOf({ transaction, ...context });
  if (table === "orders") {
    return selectAccountRows(table, accountId, transaction)
      .select(["id", "email", "customer_name as name", "order_id", "created_at"])
      .where("id", "in", ids)
      .execute();
  }
  if (table === "users") {
    const users = selectAccountRows(table, accountId, transaction).select([
      "id",
      "email",
      "display_name",
      "created_at",
    ]);
    const rows = await users.where("id", "in", ids).execute();
    return rows.map(({ display_name: name, ...row }) => ({ ...row, name, order_id: null }));
  }
  const rows = await selectAccountRows(table, accountId, transaction)
    .select(["id", "email", "created_at"])
    .where("id", "in", ids)
    .execute();
  return rows.map((row) => ({ ...row, name: "", order_id: null }));
}
