import { type RawBuilder, sql } from "kysely";
import { batchOf, batchRows, type BatchColumns } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { externalSkuAt, type ProductRow } from "./product-row.ts";

interface ProductColumns {
  product_id: string;
  name: string;
  url: string;
  image_url: string;
  description: string;
  currency_iso: string;
  price: string;
  product_tags: string;
  blacklisted: number;
  upc: string;
  mpn: string;
  brand: string;
  isbn: string;
  external_sku: string;
  sku: string;
}

/** In the order of a `ProductRow`. */
export const productColumns: BatchColumns<ProductColumns> = {
  product_id: "text",
  name: "text",
  url: "text",
  image_url: "text",
  description: "text",
  currency_iso: "text",
  price: "text",
  product_tags: "text",
  blacklisted: "integer",
  upc: "text",
  mpn: "text",
  brand: "text",
  isbn: "text",
  external_sku: "text",
  sku: "text",
};

const names = Object.keys(productColumns) as (keyof ProductColumns)[];

/** What becomes of a column: what is given, or what is stored; an empty description erases. */
function saved(name: string, isGiven: boolean): RawBuilder<unknown> {
  const [came, stored] = [sql.ref(`batch.${name}`), sql.ref(`stored.${name}`)];
  if (name === "product_id") return came;
  if (name === "blacklisted")
    return isGiven ? sql`coalesce(${came}, ${stored}, 0)` : sql`coalesce(${stored}, 0)`;
  if (!isGiven) return stored;
  if (name === "description")
    return sql`case when ${came} is null then ${stored} else nullif(${came}, '') end`;
  return sql`coalesce(${came}, ${stored})`;
}

interface SaveValues {
  readonly accountId: number;
  readonly nowMs: number;
  readonly rows: string;
}

/** The statement that saves rows of which only the columns at `given` have a value somewhere. */
function createSave(given: readonly number[]) {
  const givenNames = given.flatMap((at) => names[at] ?? []);
  const changing = givenNames.filter((name) => name !== "product_id");
  const isGiven = (name: keyof ProductColumns) => givenNames.includes(name);
  const batchColumns = Object.fromEntries(givenNames.map((name) => [name, productColumns[name]]));
  const differs = changing.map(
    (name) => sql`${sql.ref(`stored.${name}`)} is distinct from ${saved(name, true)}`,
  );
  const overwrites = [...changing, "updated_at"].map(
    (name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`,
  );
  // The left join makes the batch the outer loop; an update from a batch would walk all products for each.
  return createStatement<SaveValues>(
    (slot, dialect) => sql`
    insert into products (account_id, created_at, updated_at, ${sql.join(names.map((name) => sql.ref(name)))})
    select cast(${slot("accountId")} as bigint), coalesce(stored.created_at, cast(${slot("nowMs")} as bigint)),
      cast(${slot("nowMs")} as bigint), ${sql.join(names.map((name) => saved(name, isGiven(name))))}
    from ${batchOf(batchColumns, slot("rows"), dialect)}
    left join products as stored
      on stored.account_id = ${slot("accountId")} and stored.product_id = batch.product_id
    where stored.id is null ${sql.join([sql``, ...differs], sql` or `)}
    ${dialect.inBatchOrder}
    on conflict (account_id, product_id) do update set ${sql.join(overwrites)}`,
  );
}

/** By the columns that are given, of which a store's calls have few combinations. */
const saves = new Map<string, ReturnType<typeof createSave>>();

/**
 * Adds the products that are not there, whose rows have a name and a URL, and overwrites the others with what the
 * rows give. Assumed: a product of which nothing differs is not touched, nor its `updated_at`.
 */
export async function saveProducts(products: readonly ProductRow[], context: HandlerContext): Promise<void> {
  if (products.length === 0) return;
  const rows = await context.savedProducts.takeChanged(products, {
    transaction: context.transaction,
    dialect: context.dialect,
    accountId: accountOf(context).id,
  });
  if (rows.length === 0) return;
  const given = [...names.keys()].filter((at) => rows.some((row) => row[at] !== null));
  const key = given.join(" ");
  const save = saves.get(key) ?? createSave(given);
  saves.set(key, save);
  await save(context.transaction, context.dialect, {
    accountId: accountOf(context).id,
    nowMs: context.nowMs,
    rows: JSON.stringify(rows.map((row) => given.map((at) => row[at]))),
  });
}

/** Of the rows' products, those that the account has. */
export async function findKnownProducts(
  rows: readonly ProductRow[],
  context: HandlerContext,
): Promise<ReadonlySet<string>> {
  const ids = rows.map(([productId]) => [productId]);
  const known = await context.transaction
    .selectFrom(batchRows<{ product_id: string }>({ product_id: "text" }, ids, context.dialect))
    .crossJoin("products")
    .where("products.account_id", "=", accountOf(context).id)
    .whereRef("products.product_id", "=", "batch.product_id")
    .select("batch.product_id")
    .execute();
  return new Set(known.map(({ product_id }) => product_id));
}

/**
 * Takes out of the rows each `external_sku` that another product has, or an earlier row.
 * Source: spec "Product (input)": unique within the domain.
 * @returns the ids of the products whose `external_sku` was taken out
 */
export async function dropTakenSkus(
  rows: readonly ProductRow[],
  context: HandlerContext,
): Promise<readonly string[]> {
  const wanting = rows.filter((row) => row[externalSkuAt] !== null);
  if (wanting.length === 0) return [];
  const taken = await findTakenSkus(wanting, context);
  const seen = new Set<string>();
  const dropped: string[] = [];
  for (const row of wanting) {
    const wanted = row[externalSkuAt] ?? "";
    if (taken.has(row[0]) || seen.has(wanted)) {
      row[externalSkuAt] = null;
      dropped.push(row[0]);
    }
    seen.add(wanted);
  }
  return dropped;
}

/** The products whose `external_sku` is another product's. */
async function findTakenSkus(
  rows: readonly ProductRow[],
  context: HandlerContext,
): Promise<ReadonlySet<string>> {
  const pairs = rows.map((row) => [row[0], row[externalSkuAt]]);
  const batch = batchRows<{ product_id: string; external_sku: string }>(
    { product_id: "text", external_sku: "text" },
    pairs,
    context.dialect,
  );
  const taken = await context.transaction
    .selectFrom(batch)
    .crossJoin("products")
    .where("products.account_id", "=", accountOf(context).id)
    .whereRef("products.external_sku", "=", "batch.external_sku")
    .whereRef("products.product_id", "!=", "batch.product_id")
    .select("batch.product_id")
    .execute();
  return new Set(taken.map(({ product_id }) => product_id));
}
