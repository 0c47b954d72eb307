import { type RawBuilder, sql } from "kysely";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { batchColumns } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { noteChangedTexts } from "../kernel/lists/part-index.ts";
import { type ProductField, productFields } from "../../contract/index.ts";
import { type ProductColumn, productColumnNames, type ProductRow, skuOf, withoutSku } from "./product-row.ts";

const fields: Readonly<Partial<Record<ProductColumn, ProductField>>> = productFields;

/** The new value of a column: the one in the batch, or else the stored one. An empty value can erase the stored one. */
function mergedValue(name: ProductColumn, hasValue: boolean): RawBuilder<unknown> {
  const [incoming, stored] = [sql.ref(`batch.${name}`), sql.ref(`stored.${name}`)];
  if (name === "product_id") return incoming;
  if (fields[name]?.type === "boolean") {
    return hasValue ? sql`coalesce(${incoming}, ${stored}, 0)` : sql`coalesce(${stored}, 0)`;
  }
  if (!hasValue) return stored;
  if (fields[name]?.isErasable === true)
    return sql`case when ${incoming} is null then ${stored} else nullif(${incoming}, '') end`;
  return sql`coalesce(${incoming}, ${stored})`;
}

/** What visitors can state about a product in addition to its name. */
const visitorColumns = ["url", "image_url", "description", "product_tags"] as const satisfies readonly ProductColumn[];
const isVisitorColumn = (name: ProductColumn) => visitorColumns.some((column) => column === name);

interface SaveValues {
  readonly accountId: number;
  readonly nowMs: number;
  /** Only products with a higher ID are changed. */
  readonly sinceId: number;
  readonly rows: string;
}

/** Creates the statement that saves rows in which only the columns at `columnIndexes` have values. */
function createSave(columnIndexes: readonly number[]) {
  const columnNames = columnIndexes.flatMap((index) => productColumnNames[index] ?? []);
  const changing = columnNames.filter((name) => name !== "product_id");
  const hasValue = (name: ProductColumn) => columnNames.includes(name);
  // Once the store has named a product, nothing remains of what visitors have stated about it.
  const isNamed = columnNames.includes("name")
    ? sql`stored.named_by_visitor <> 0 and batch.name is not null`
    : undefined;
  const valueOf = (name: ProductColumn) => {
    const merged = mergedValue(name, hasValue(name));
    if (isNamed === undefined || !isVisitorColumn(name)) return merged;
    const given = hasValue(name) ? sql`nullif(${sql.ref(`batch.${name}`)}, '')` : sql`null`;
    return sql`case when ${isNamed} then ${name === "url" ? sql`coalesce(${given}, '')` : given} else ${merged} end`;
  };
  const differs = changing.map((name) => sql`${sql.ref(`stored.${name}`)} is distinct from ${valueOf(name)}`);
  const keepsVisitorName =
    isNamed === undefined
      ? sql`coalesce(stored.named_by_visitor, 0)`
      : sql`case when ${isNamed} then 0 else coalesce(stored.named_by_visitor, 0) end`;
  differs.push(sql`stored.named_by_visitor <> ${keepsVisitorName}`);
  const overwritten = isNamed === undefined ? changing : [...new Set([...changing, ...visitorColumns])];
  const overwrites = [...overwritten, "named_by_visitor", "updated_at"].map(
    (name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`,
  );
  // The left join makes the batch the outer loop; an update from the batch would scan all products for each row.
  return createDeferredStatement<SaveValues>(
    (slot, dialect) => sql`
    insert into products (account_id, created_at, updated_at, named_by_visitor, ${sql.join(productColumnNames.map((name) => sql.ref(name)))})
    select cast(${slot("accountId")} as bigint), coalesce(stored.created_at, cast(${slot("nowMs")} as bigint)),
      cast(${slot("nowMs")} as bigint), ${keepsVisitorName}, ${sql.join(productColumnNames.map(valueOf))}
    from ${batchOf(batchColumns("products", columnNames), slot("rows"), dialect)}
    left join products as stored
      on stored.account_id = ${slot("accountId")} and stored.product_id = batch.product_id
    where stored.id is null or stored.id > ${slot("sinceId")} and (${sql.join(differs, sql` or `)})
    ${dialect.inBatchOrder}
    on conflict (account_id, product_id) do update set ${sql.join(overwrites)}`,
  );
}

/**
 * Like `createSave`, for rows that need nothing of a stored product to be added: they have a name, a URL, and no empty
 * description, and all products may change. Looks up each product once instead of twice.
 * Citus supports no parameters after `on conflict`.
 */
function createUpsert(columnIndexes: readonly number[]) {
  const columnNames = columnIndexes.flatMap((index) => productColumnNames[index] ?? []);
  const merges = columnNames
    .filter((name) => name !== "product_id")
    .map((name) => {
      const [stored, given] = [sql.ref(`products.${name}`), sql.ref(`excluded.${name}`)];
      const merged = isVisitorColumn(name)
        ? sql`case when products.named_by_visitor <> 0 then ${given} else coalesce(${given}, ${stored}) end`
        : sql`coalesce(${given}, ${stored})`;
      return { column: sql.ref(name), stored, merged };
    });
  const others = visitorColumns.filter((name) => !columnNames.includes(name));
  const erased = others.map((name) => {
    const column = sql.ref(name);
    return sql`${column} = case when products.named_by_visitor <> 0 then null else products.${column} end`;
  });
  const columns = sql.join(columnNames.map((name) => sql.ref(name)));
  return createDeferredStatement<SaveValues>(
    (slot, dialect) => sql`
    insert into products (account_id, created_at, updated_at, named_by_visitor, ${columns})
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), cast(${slot("nowMs")} as bigint), 0,
      ${columns}
    from ${batchOf(batchColumns("products", columnNames), slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    on conflict (account_id, product_id) do update set
      ${sql.join([...merges.map(({ column, merged }) => sql`${column} = ${merged}`), ...erased])},
      named_by_visitor = 0, updated_at = excluded.updated_at
    where products.named_by_visitor <> 0
      or ${sql.join(
        merges.map(({ stored, merged }) => sql`${stored} is distinct from ${merged}`),
        sql` or `,
      )}`,
  );
}

const indexesOf = (has: (field: ProductField) => boolean) =>
  productColumnNames.flatMap((name, at) => {
    const field = fields[name];
    return field && has(field) ? [at] : [];
  });

const requiredIndexes = indexesOf(({ isRequired }) => isRequired === true);
const erasableIndexes = indexesOf(({ isErasable }) => isErasable === true);
const booleanIndexes = indexesOf(({ type }) => type === "boolean");

/** Whether `createUpsert` can save a row. */
function canUpsert(row: ProductRow): boolean {
  return (
    requiredIndexes.every((at) => row[at] !== null) &&
    erasableIndexes.every((at) => row[at] !== "") &&
    booleanIndexes.every((at) => row[at] === null)
  );
}

/** Statements by the columns they save, of which a store uses few combinations. */
const saves = new Map<string, ReturnType<typeof createSave>>();

/**
 * Adds new products, whose rows must have a name and a URL, and updates existing ones with the specified values.
 * Assumed: a product without changes keeps its `updated_at`.
 */
export async function saveProducts(products: readonly ProductRow[], context: HandlerContext): Promise<void> {
  await context.dialect.runAll(await prepareProducts(products, context));
}

/**
 * Like `saveProducts`, but returns the statement for `runAll`; none if nothing changes.
 * @param sinceId only products with a higher ID are changed
 */
export async function prepareProducts(
  products: readonly ProductRow[],
  context: HandlerContext,
  sinceId = 0,
): Promise<(() => Promise<unknown>)[]> {
  if (products.length === 0) return [];
  const rows = await context.savedProducts.takeChanged(products, {
    transaction: context.transaction,
    dialect: context.dialect,
    accountId: accountOf(context).id,
    sinceId,
  });
  if (rows.length === 0) return [];
  const columnIndexes = [...productColumnNames.keys()].filter((index) => rows.some((row) => row[index] !== null));
  const isUpsert = sinceId === 0 && rows.every(canUpsert);
  const key = `${isUpsert ? "upsert" : "save"} ${columnIndexes.join(" ")}`;
  const save = saves.get(key) ?? (isUpsert ? createUpsert : createSave)(columnIndexes);
  saves.set(key, save);
  const values = {
    accountId: accountOf(context).id,
    nowMs: context.nowMs,
    sinceId,
    rows: JSON.stringify(rows.map((row) => columnIndexes.map((index) => row[index]))),
  };
  return [() => noteRenamed(rows, context), () => save(context.transaction, context.dialect, values)];
}

const nameAt = productColumnNames.indexOf("name");

const selectRenamed = createStatement<{ accountId: number; rows: string }, { readonly id: number }>(
  (slot, dialect) => sql`
    select products.id from ${batchOf({ product_id: "text", name: "text" }, slot("rows"), dialect)} cross join products
    where products.account_id = ${slot("accountId")} and products.product_id = batch.product_id
      and products.name <> batch.name`,
);

/** Notes which stored products get another name. */
async function noteRenamed(rows: readonly ProductRow[], context: HandlerContext): Promise<void> {
  const named = rows.flatMap((row) => (row[nameAt] == null ? [] : [[row[0], row[nameAt]]]));
  if (named.length === 0) return;
  const values = { accountId: accountOf(context).id, rows: JSON.stringify(named) };
  const renamed = await selectRenamed(context.transaction, context.dialect, values);
  await noteChangedTexts(
    "products",
    renamed.rows.map(({ id }) => id),
    context,
  );
}

export const takenSkuText = "is already used by another product";

/** Which products of a call name an `external_sku` that belongs to another product. */
export type TakenSkus = ReadonlySet<string>;

const skuKey = (productId: string, sku: string) => JSON.stringify([productId, sku]);

type SkuColumns = Record<"product_id" | "external_sku", string>;

const skuColumns: BatchColumns<SkuColumns> = { product_id: "text", external_sku: "text" };

const selectTaken = createStatement<{ accountId: number; rows: string; sinceId: number }, SkuColumns>(
  (slot, dialect) => sql`
    select batch.product_id, batch.external_sku
    from ${batchOf(skuColumns, slot("rows"), dialect)} cross join products
      left join products as own on own.account_id = ${slot("accountId")} and own.product_id = batch.product_id
    where products.account_id = ${slot("accountId")} and products.external_sku = batch.external_sku
      and products.product_id <> batch.product_id and (own.id is null or own.id > ${slot("sinceId")})`,
);

/**
 * Finds the SKUs in the rows that belong to other products than those of the rows.
 * @param sinceId products with a lower ID, or this one, are not changed
 */
export async function findTakenSkus(
  rows: readonly ProductRow[],
  context: HandlerContext,
  sinceId = 0,
): Promise<TakenSkus> {
  const pairs = new Map<string, readonly string[]>();
  for (const row of rows) {
    const sku = skuOf(row);
    if (sku !== null) pairs.set(skuKey(row[0], sku), [row[0], sku]);
  }
  if (pairs.size === 0) return new Set();
  const { transaction, dialect } = context;
  const values = { accountId: accountOf(context).id, rows: JSON.stringify([...pairs.values()]), sinceId };
  const { rows: taken } = await selectTaken(transaction, dialect, values);
  return new Set(taken.map(({ product_id, external_sku }) => skuKey(product_id, external_sku)));
}

interface FreeSkus {
  readonly rows: readonly ProductRow[];
  /** The IDs of the products whose `external_sku` was cleared. */
  readonly dropped: readonly string[];
}

/**
 * Clears each `external_sku` in the rows that belongs to another product or an earlier row.
 * Source: spec "Product (input)": unique within the domain.
 */
export function dropTakenSkus(rows: readonly ProductRow[], taken: TakenSkus): FreeSkus {
  const seen = new Set<string>();
  const dropped: string[] = [];
  const free = rows.map((row) => {
    const sku = skuOf(row);
    if (sku === null) return row;
    const isTaken = taken.has(skuKey(row[0], sku)) || seen.has(sku);
    seen.add(sku);
    if (!isTaken) return row;
    dropped.push(row[0]);
    return withoutSku(row);
  });
  return { rows: free, dropped };
}

/**
 * Calls that are handled together must have the results that they would have one after another, of which each would
 * report the SKUs that belong to other products at that time.
 * @throws Error if any of several calls has such SKUs, so that they are handled one after another
 */
export function requireFreeSkus(dropped: readonly string[], { calls }: { readonly calls: number }): void {
  if (calls > 1 && dropped.length > 0) throw new Error("calls with SKUs of other products cannot be combined");
}
