import { sql } from "kysely";
import { ServiceError, recordNotFound } from "../../contract/index.ts";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { namedBy } from "./product-view.ts";

/** A product as described by a review or a question. */
export interface ProductDescription {
  readonly product_id: string;
  readonly name: string;
  readonly url: string;
  readonly image_url: string | null;
  readonly description: string | null;
  readonly product_tags: string | null;
}

/** The row ID of a product; 0, which no row has, if there is no such product. */
export async function findProductRow(productId: string, context: HandlerContext): Promise<number> {
  const accountId = accountOf(context).id;
  return (await findProduct(productId, { transaction: context.transaction, accountId })) ?? 0;
}

/** The columns of a product that responses about reviews include. */
export type FoundProduct = Pick<
  Row<"products">,
  "id" | "product_id" | "name" | "url" | "image_url" | "named_by_visitor"
>;

/** In the order in which the rows are passed to the statement. */
const addedColumns: BatchColumns<ProductDescription> = {
  product_id: "text",
  name: "text",
  url: "text",
  image_url: "text",
  description: "text",
  product_tags: "text",
};

const addedNames = Object.keys(addedColumns) as readonly (keyof ProductDescription)[];

/**
 * Finds products, or adds them, with a constant number of statements. The first description of a product is stored.
 * Assumed: a review or a question adds a product that does not exist, but never changes an existing one, except that the
 * store's description replaces that of a visitor.
 * @param isByStore whether the store vouches for the descriptions
 * @returns the products by their product IDs
 */
export async function addProducts(
  products: readonly ProductDescription[],
  isByStore: boolean,
  context: HandlerContext,
): Promise<ReadonlyMap<string, FoundProduct>> {
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  const first = new Map(products.toReversed().map((product) => [product.product_id, product]));
  if (first.size === 0) return new Map();
  const rows = JSON.stringify(Array.from(first.keys(), (id) => [id]));
  const known = await selectProducts(transaction, dialect, { accountId, rows });
  const found = new Map(known.rows.map((product) => [product.product_id, product]));
  const isOpen = ({ product_id }: ProductDescription) => {
    const named = found.get(product_id)?.named_by_visitor;
    return named === undefined || (isByStore && named !== namedBy.store);
  };
  const added = [...new Set(products.map(({ product_id }) => product_id))]
    .flatMap((id) => first.get(id) ?? [])
    .filter(isOpen)
    .map((product) => addedNames.map((name) => product[name]));
  if (added.length === 0) return found;
  const namedByVisitor = isByStore ? namedBy.store : namedBy.visitor;
  const values = { accountId, nowMs, namedByVisitor, rows: JSON.stringify(added) };
  const inserted = await insertProducts(transaction, dialect, values);
  for (const product of inserted.rows) found.set(product.product_id, product);
  return found;
}

const selectProducts = createStatement<{ accountId: number; rows: string }, FoundProduct>(
  (slot, dialect) => sql`
    select products.id, products.product_id, products.name, products.url, products.image_url,
      products.named_by_visitor
    from ${batchOf<{ product_id: string }>({ product_id: "text" }, slot("rows"), dialect)} cross join products
    where products.account_id = ${slot("accountId")} and products.product_id = batch.product_id`,
);

const columnList = sql.join(addedNames.map((name) => sql.ref(name)));
const overwrites = sql.join(
  [...addedNames, "named_by_visitor", "updated_at"].map(
    (name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`,
  ),
);

const insertProducts = createStatement<
  { accountId: number; nowMs: number; namedByVisitor: number; rows: string },
  FoundProduct
>(
  (slot, dialect) => sql`
    insert into products (account_id, created_at, updated_at, named_by_visitor, ${columnList})
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), cast(${slot("nowMs")} as bigint),
      cast(${slot("namedByVisitor")} as bigint), ${columnList}
    from ${batchOf(addedColumns, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    on conflict (account_id, product_id) do update set ${overwrites}
    returning id, product_id, name, url, image_url, named_by_visitor`,
);

/** Finds the name and URL of a product for an email to a visitor, unless only visitors have stated them. */
export async function findStoreProduct(
  { accountId, productRow }: { readonly accountId: number; readonly productRow: number },
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<Pick<ProductDescription, "name" | "url"> | undefined> {
  return transaction
    .selectFrom("products")
    .select(["name", "url"])
    .where("account_id", "=", accountId)
    .where("id", "=", productRow)
    .where("named_by_visitor", "!=", namedBy.visitor)
    .executeTakeFirst();
}

/** Finds the row ID of a product by the store's product ID. */
export async function findProduct(
  productId: string,
  { transaction, accountId }: Pick<HandlerContext, "transaction"> & { readonly accountId: number },
): Promise<number | undefined> {
  const found = await transaction
    .selectFrom("products")
    .select("id")
    .where("account_id", "=", accountId)
    .where("product_id", "=", productId)
    .executeTakeFirst();
  return found?.id;
}

/**
 * Finds the row ID of a product of the call's account.
 * @throws ServiceError `recordNotFound`
 */
export async function requireProduct(productId: string, context: HandlerContext): Promise<number> {
  const { transaction } = context;
  const found = await findProduct(productId, { transaction, accountId: accountOf(context).id });
  if (found === undefined) throw unknownProduct(productId);
  return found;
}

/** The error for a product that does not exist. Source: spec "Questions and answers": products are found by domain_key. */
export function unknownProduct(productId: string): ServiceError {
  return recordNotFound("ProductsApp", "domain_key", productId);
}
