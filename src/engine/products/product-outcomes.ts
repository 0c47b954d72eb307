import {
  type ItemOutcome,
  outcomeOf,
  type ProductError,
  type ProductField,
  productFields,
} from "../../contract/index.ts";
import { batchRows } from "../../storage/batch.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type ProductColumn, productColumnNames, type ProductRow } from "./product-row.ts";

type StoredProduct = Pick<Row<"products">, ProductColumn>;

export type StoredProducts = ReadonlyMap<string, StoredProduct>;

/** Reads the stored ones of some products, by product ID. @param sinceId only those with a higher internal ID */
export async function readStoredProducts(
  rows: readonly ProductRow[],
  context: HandlerContext,
  sinceId = 0,
): Promise<StoredProducts> {
  const ids = rows.map(([productId]) => [productId]);
  const stored = await context.transaction
    .selectFrom(batchRows<{ product_id: string }>({ product_id: "text" }, ids, context.dialect))
    .crossJoin("products")
    .where("products.account_id", "=", accountOf(context).id)
    .whereRef("products.product_id", "=", "batch.product_id")
    .where("products.id", ">", sinceId)
    .select(productColumnNames.map((name) => `products.${name}` as const))
    .execute();
  return new Map(stored.map((product) => [product.product_id, product]));
}

interface Stored {
  /** The products as they were before the call. */
  readonly before: StoredProducts;
  /** The rows that were saved. */
  readonly rows: readonly ProductRow[];
  readonly errors: readonly ProductError[];
}

/** The outcome of each product of a call. */
export function productOutcomes(productIds: readonly string[], { before, rows, errors }: Stored): ItemOutcome[] {
  const saved = new Map(rows.map((row) => [row[0], row]));
  const errorsById = new Map<string, ProductError[]>();
  for (const error of errors) errorsById.set(error.product_id, [...(errorsById.get(error.product_id) ?? []), error]);
  return productIds.map((product_id) => {
    const [row, stored] = [saved.get(product_id), before.get(product_id)];
    const fields = row && stored ? changedFields(row, toRow(stored)) : [];
    const outcome = !row ? "dropped" : !stored ? "created" : fields.length > 0 ? "changed" : "unchanged";
    return { product_id, ...outcomeOf(outcome, { fields, dropped: errorsById.get(product_id) ?? [] }) };
  });
}

const fields: Readonly<Partial<Record<ProductColumn, ProductField>>> = productFields;

export function toRow(product: StoredProduct): ProductRow {
  return productColumnNames.map((name) => product[name]) as ProductRow;
}

/** The wire names of the fields in which a row changes a product. */
export function changedFields(row: ProductRow, stored: ProductRow): string[] {
  const changed = productColumnNames.filter((name, at) => {
    const sent = row[at] ?? null;
    const isErased = fields[name]?.isErasable === true && sent === "";
    return sent !== null && (isErased ? null : sent) !== (stored[at] ?? null);
  });
  return changed.map(wireNameOf);
}

/** The wire names of the fields that a row specifies. */
export function sentFields(row: ProductRow): ReadonlySet<string> {
  return new Set(productColumnNames.filter((_, at) => row[at] !== null).map(wireNameOf));
}

function wireNameOf(column: ProductColumn): string {
  return fields[column]?.isSpec === true ? `specs.${column}` : column;
}
