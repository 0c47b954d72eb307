import {
  type FieldError,
  type ItemOutcome,
  outcomeOf,
  type ProductField,
  productFields,
} from "../../contract/index.ts";
import { letOthersRun } from "../../storage/loop-turn.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { mergeRows, type ProductRow } from "../products/product-row.ts";
import { changedFields, readStoredProducts, sentFields, toRow } from "../products/product-outcomes.ts";
import type { SentOrder } from "./order-rows.ts";

/** The names of product fields in an order, if they differ. */
const orderNames: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries<ProductField>(productFields).map(([name, { inOrder }]) => [name, inOrder?.name]),
);

/** Fields that belong to the order: prices and currencies of a product differ between orders of different times. */
const ownFields: ReadonlySet<string> = new Set(["price", "currency_iso"]);

type Results = { readonly outcome: ItemOutcome; readonly errors: readonly FieldError[] }[];

/**
 * Adds the changed product data to the results of repeated orders. Must be called before the products are stored.
 * Assumed: data that a later order of the same call replaces again is not changed, so that importing a file twice changes
 * nothing even if its orders contain different data of a product.
 * @param orders those that are stored
 * @param sinceId only products with a higher ID are changed
 */
export async function addProductChanges(
  orders: readonly SentOrder[],
  results: Results,
  context: HandlerContext,
  sinceId?: number,
): Promise<void> {
  const repeated = orders.filter(({ position }) => results[position]?.outcome.outcome !== "created");
  const products = repeated.flatMap(({ items }) => items.map(({ product }) => product));
  if (products.length === 0) return;
  const stored = await readStoredProducts(
    [...new Map(products.map((row) => [row[0], row])).values()],
    context,
    sinceId,
  );
  const rows = new Map([...stored].map(([id, product]) => [id, toRow(product)]));
  const final = new Map(rows);
  for (const { product } of orders.flatMap(({ items }) => items)) {
    await letOthersRun();
    const before = final.get(product[0]);
    if (before && differs(product, before)) final.set(product[0], mergeRows(before, product));
  }
  const changes = new Map<string, readonly string[]>();
  for (const [id, row] of final) {
    await letOthersRun();
    const before = rows.get(id);
    if (before && before !== row) changes.set(id, changedFields(row, before));
  }
  for (const { position, items } of changes.size > 0 ? repeated : []) {
    await letOthersRun();
    const changed = items.flatMap(({ product }) => {
      const names = changes.get(product[0]) ?? [];
      if (names.length === 0) return [];
      const replaced = new Set(changedFields(product, final.get(product[0]) ?? product));
      const sent = sentFields(product);
      const own = names.filter((name) => sent.has(name) && !replaced.has(name) && !ownFields.has(name));
      return own.map((name) => `products.${product[0]}.${orderNames[name] ?? name}`);
    });
    const result = results[position];
    if (!result || changed.length === 0) continue;
    const { fields = [], dropped } = result.outcome;
    const outcome = outcomeOf("changed", { fields: [...fields, ...changed], ...(dropped && { dropped }) });
    results[position] = { ...result, outcome };
  }
}

/** Whether a row changes a product. Faster than `changedFields`, since most rows of a repeated import change nothing. */
function differs(row: ProductRow, stored: ProductRow): boolean {
  for (let at = 0; at < row.length; at++) {
    if (row[at] !== null && row[at] !== stored[at]) return true;
  }
  return false;
}
