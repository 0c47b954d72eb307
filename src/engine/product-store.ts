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

/** What becomes of a column: what is given, or what is stored; an empty description erases. */
function saved(name: string): RawBuilder<unknown> {
  const [came, stored] = [sql.ref(`batch.${name}`), sql.ref(`stored.${name}`)];
  if (name === "product_id") return came;
  if (name === "blacklisted") return sql`coalesce(${came}, ${stored}, 0)`;
  if (name === "description")
    return sql`case when ${came} is null then ${stored} else nullif(${came}, '') end`;
  return sql`coalesce(${came}, ${stored})`;
}

const savedColumns = sql.join(names.map((name) => sql.ref(name)));
const savedValues = sql.join(names.map(saved));
const differs = sql.join(
  changing.map((name) => sql`${sql.ref(`stored.${name}`)} is distinct from ${saved(name)}`),
  sql` or `,
);
const overwrites = sql.join(
  [...changing, "updated_at"].map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`),
);

/**
 * Adds the products that are not there, whose rows have a name and a URL, and overwrites the others with what the
 * rows give. Assumed: a product of which nothing differs is not touched, nor its `updated_at`.
 */
export async function saveProducts(rows: readonly ProductRow[], context: HandlerContext): Promise<void> {
  if (rows.length === 0) return;
  const { transaction, dialect, nowMs } = context;
  const accountId = accountOf(context).id;
  // The left join makes the batch the outer loop; an update from a batch would walk all products for each.
  await sql`
    insert into products (account_id, created_at, updated_at, ${savedColumns})
    select cast(${accountId} as bigint), coalesce(stored.created_at, cast(${nowMs} as bigint)),
      cast(${nowMs} as bigint), ${savedValues}
    from ${batchRows(columns, rows, dialect)}
    left join products as stored
      on stored.account_id = ${accountId} and stored.product_id = batch.product_id
    where stored.id is null or ${differs}
    on conflict (account_id, product_id) do update set ${overwrites}`.execute(transaction);
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
