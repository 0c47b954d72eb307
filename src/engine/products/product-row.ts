import {
  invalidIdText,
  maxLength,
  normalizeSpec,
  type OrderProduct,
  type ProductField,
  productFields,
  type ProductInput,
} from "../../contract/index.ts";

export type ProductColumn = "product_id" | keyof typeof productFields;

/** The columns of a product, in the order of a `ProductRow`. */
export const productColumnNames = ["product_id", ...Object.keys(productFields)] as readonly ProductColumn[];

/**
 * A product to save, as a list of its columns, because one statement saves many of them; null means not specified.
 * Assumed: product and order IDs are stored as received; only spec values are normalized.
 */
export type ProductRow = [productId: string, ...columns: (string | number | null)[]];

/** The index of a column in a row. */
export const indexOfColumn = (name: ProductColumn) => productColumnNames.indexOf(name);

const externalSkuIndex = indexOfColumn("external_sku");

export const skuOf = (row: ProductRow) => row[externalSkuIndex] as string | null;

export function withoutSku(row: ProductRow): ProductRow {
  const copy = row.slice() as ProductRow;
  copy[externalSkuIndex] = null;
  return copy;
}

/** Reports why a spec value is not stored. */
export type OnInvalidSpec = (name: string, error: string) => void;

type Values = Readonly<Record<string, unknown>>;

const fields = Object.entries<ProductField>(productFields);

/** `N/A`, and values that are empty after normalization, count as not specified. */
function readSpec(name: string, raw: unknown, onInvalid: OnInvalidSpec): string | null {
  if (typeof raw !== "string") return null;
  const normalized = normalizeSpec(raw);
  if ("value" in normalized) return normalized.value;
  if (normalized.ignored === "characters") onInvalid(name, invalidIdText);
  if (normalized.ignored === "length") onInvalid(name, `is longer than ${maxLength.spec} characters`);
  return null;
}

function readValue(value: unknown): string | number | null {
  if (typeof value === "boolean") return Number(value);
  return (typeof value === "string" && value !== "") || typeof value === "number" ? String(value) : null;
}

/**
 * Converts a product of a bulk call to a row.
 * Assumed: `currency` is used if `currency_iso` is absent; empty values count as not specified, except the description
 * in an update, where an empty string erases the stored one.
 */
export function toProductRow(
  productId: string,
  product: Partial<ProductInput>,
  { isUpdate, onInvalidSpec }: { readonly isUpdate: boolean; readonly onInvalidSpec: OnInvalidSpec },
): ProductRow {
  const values: Values = { ...product, currency_iso: product.currency_iso || product.currency };
  const specs: Values = product.specs ?? {};
  const columns = fields.map(([name, { isSpec, isErasable }]) => {
    if (isSpec === true) return readSpec(name, specs[name], onInvalidSpec);
    const isErased = isUpdate && isErasable === true && (values[name] === null || values[name] === "");
    return isErased ? "" : readValue(values[name]);
  });
  return [productId, ...columns];
}

const orderedFields = fields.flatMap(([name, { inOrder }]) =>
  inOrder ? [{ name: inOrder.name, index: indexOfColumn(name as ProductColumn) }] : [],
);
const specIndexes = fields.flatMap(([name, { isSpec }]) =>
  isSpec === true ? [{ name, index: indexOfColumn(name as ProductColumn) }] : [],
);
const currencyIndex = indexOfColumn("currency_iso");
const nothing: readonly null[] = productColumnNames.map(() => null);

/** Converts a product of an order to a row. Its currency is the order's, unless it has its own. */
export function toOrderedProductRow(
  productId: string,
  product: OrderProduct,
  currency: string | null,
  onInvalidSpec: OnInvalidSpec,
): ProductRow {
  const row = nothing.slice() as (string | number | null)[] as ProductRow;
  row[0] = productId;
  row[currencyIndex] = product.currency_iso ?? currency;
  const values: Values = product;
  for (const { name, index } of orderedFields) row[index] = readValue(values[name]);
  const specs: Values | null | undefined = product.specs;
  if (!specs) return row;
  for (const { name, index } of specIndexes) row[index] = readSpec(name, specs[name], onInvalidSpec);
  return row;
}

/**
 * The row of a listed product, whose values are named as columns; those that the service does not return are null. A product
 * that only a review names can be without a URL.
 */
export function toListedProductRow(productId: string, values: Values): ProductRow {
  return [productId, ...fields.map(([name, { isRequired }]) => readValue(values[name]) ?? (isRequired ? "" : null))];
}

/** Merges two rows of the same product; values of the later row take precedence. */
export function mergeRows(earlier: ProductRow, later: ProductRow): ProductRow {
  return earlier.map((value, index) => later[index] ?? value) as ProductRow;
}

/** One row per product, in which values of later rows take precedence. */
export function mergeProducts(rows: Iterable<ProductRow>): ProductRow[] {
  const merged = new Map<string, ProductRow>();
  for (const row of rows) {
    const earlier = merged.get(row[0]);
    merged.set(row[0], earlier === undefined || earlier === row ? row : mergeRows(earlier, row));
  }
  return [...merged.values()];
}

export function isSameRow(a: ProductRow, b: ProductRow): boolean {
  return a === b || a.every((value, index) => value === b[index]);
}
