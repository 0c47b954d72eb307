import { type RawBuilder, sql } from "kysely";
import { batchRows, type BatchColumns } from "../storage/batch.ts";
import { accountOf, type HandlerContext } from "./handler.ts";
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
const columns: BatchColumns<ProductColumns> = {
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

const names = Object.keys(columns);
const changing = names.filter((name) => name !== "product_id");

/** What an update makes of a column: what is given, or what is stored; an empty description erases. */
function changed(name: string): RawBuilder<unknown> {
  const [came, stored] = [sql.ref(`batch.${name}`), sql.ref(`products.${name}`)];
  if (name !== "description") return sql`coalesce(${came}, ${stored})`;
  return sql`case when ${came} is null then ${stored} else nullif(${came}, '') end`;
}

/** What a new product has in a column. */
function initial(name: string): RawBuilder<unknown> {
  if (name === "blacklisted") return sql`coalesce(blacklisted, 0)`;
  if (name === "description") return sql`nullif(description, '')`;
  return sql.ref(name);
}

const insertedColumns = sql.join(names.map((name) => sql.ref(name)));
const initialColumns = sql.join(names.map(initial));
const changes = sql.join(changing.map((name) => sql`${sql.ref(name)} = ${changed(name)}`));
const differs = sql.join(
  changing.map((name) => sql`${sql.ref(`products.${name}`)} is distinct from ${changed(name)}`),
  sql` or `,
);

/** Adds the products that are not there, whose rows have a name and a URL, and leaves the others alone. */
export async function insertProducts(rows: readonly ProductRow[], context: HandlerContext): Promise<void> {
  if (rows.length === 0) return;
  const { transaction, dialect, nowMs } = context;
  await sql`
    insert into products (account_id, created_at, updated_at, ${insertedColumns})
    select cast(${accountOf(context).id} as bigint), cast(${nowMs} as bigint), cast(${nowMs} as bigint),
      ${initialColumns}
    from ${batchRows(columns, rows, dialect)} where true
    on conflict (account_id, product_id) do nothing`.execute(transaction);
}

/** Overwrites with what the rows give; a product of which nothing differs is not touched, nor its `updated_at`. */
export async function updateProducts(rows: readonly ProductRow[], context: HandlerContext): Promise<void> {
  if (rows.length === 0) return;
  const { transaction, dialect, nowMs } = context;
  await sql`
    update products set updated_at = cast(${nowMs} as bigint), ${changes}
    from ${batchRows(columns, rows, dialect)}
    where products.account_id = ${accountOf(context).id} and products.product_id = batch.product_id
      and (${differs})`.execute(transaction);
}

/** Of the rows' products, those that the account has. */
export async function findKnownProducts(
  rows: readonly ProductRow[],
  context: HandlerContext,
): Promise<ReadonlySet<string>> {
  const ids = rows.map(([productId]) => [productId]);
  const known = await context.transaction
    .selectFrom(batchRows<{ product_id: string }>({ product_id: "text" }, ids, context.dialect))
    .innerJoin("products", (join) =>
      join
        .on("products.account_id", "=", accountOf(context).id)
        .onRef("products.product_id", "=", "batch.product_id"),
    )
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
    .innerJoin("products", (join) =>
      join
        .on("products.account_id", "=", accountOf(context).id)
        .onRef("products.external_sku", "=", "batch.external_sku")
        .onRef("products.product_id", "!=", "batch.product_id"),
    )
    .select("batch.product_id")
    .execute();
  return new Set(taken.map(({ product_id }) => product_id));
}
