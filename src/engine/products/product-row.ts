import {
  invalidIdText,
  maxLength,
  normalizeSpec,
  type OrderProduct,
  type ProductInput,
  specNames,
  type SpecName,
} from "../../contract/index.ts";

/**
 * A product to save, as an array of its columns; null means not specified.
 * It is an array because one statement saves many of them.
 * Assumed: product and order IDs are stored as received; only spec values are normalized.
 */
export type ProductRow = [
  product_id: string,
  name: string | null,
  url: string | null,
  image_url: string | null,
  description: string | null,
  currency_iso: string | null,
  price: string | null,
  product_tags: string | null,
  blacklisted: number | null,
  upc: string | null,
  mpn: string | null,
  brand: string | null,
  isbn: string | null,
  external_sku: string | null,
  sku: string | null,
];

/** The index of `external_sku` in a row. The specs follow `blacklisted` in the contract's order. */
export const externalSkuIndex = 13;

type Specs = Readonly<Partial<Record<SpecName, string | null | undefined>>>;

/** Reports why a spec value is not stored. */
export type OnInvalidSpec = (name: SpecName, error: string) => void;

const emptyToNull = (value: string | null | undefined) => (value === undefined || value === "" ? null : value);

/** The description in an update: an empty string deletes the stored one, null leaves it unchanged. */
const nullToEmpty = (value: string | null | undefined) => (value === undefined ? null : (value ?? ""));

const noSpecs = specNames.map(() => null);

/** `N/A`, and values that are empty after normalization, count as not specified. */
function readSpecs(specs: Specs | null | undefined, onInvalid: OnInvalidSpec): (string | null)[] {
  if (!specs) return noSpecs;
  return specNames.map((name) => {
    const raw = specs[name];
    if (raw === undefined || raw === null) return null;
    const normalized = normalizeSpec(raw);
    if ("value" in normalized) return normalized.value;
    if (normalized.ignored === "characters") onInvalid(name, invalidIdText);
    if (normalized.ignored === "length") onInvalid(name, `is longer than ${maxLength.spec} characters`);
    return null;
  });
}

/**
 * Converts a product of a bulk call to a row.
 * Assumed: `currency` is used if `currency_iso` is absent; empty values count as not specified, except the description
 * in an update (`keepsEmptyDescription`).
 */
export function toProductRow(
  productId: string,
  product: Partial<ProductInput>,
  {
    keepsEmptyDescription,
    onInvalidSpec,
  }: { readonly keepsEmptyDescription: boolean; readonly onInvalidSpec: OnInvalidSpec },
): ProductRow {
  return [
    productId,
    emptyToNull(product.name),
    emptyToNull(product.url),
    emptyToNull(product.image_url),
    keepsEmptyDescription ? nullToEmpty(product.description) : emptyToNull(product.description),
    emptyToNull(product.currency_iso) ?? emptyToNull(product.currency),
    emptyToNull(product.price),
    emptyToNull(product.product_tags),
    product.blacklisted === undefined ? null : Number(product.blacklisted),
    ...readSpecs(product.specs, onInvalidSpec),
  ] as ProductRow;
}

/** Converts a product of an order to a row. Its currency is the order's. */
export function toOrderedProductRow(
  productId: string,
  product: OrderProduct,
  currency: string | null,
  onInvalidSpec: OnInvalidSpec,
): ProductRow {
  return [
    productId,
    product.name,
    product.url,
    emptyToNull(product.image),
    emptyToNull(product.description),
    currency,
    emptyToNull(product.price),
    emptyToNull(product.product_tags),
    null,
    ...readSpecs(product.specs, onInvalidSpec),
  ] as ProductRow;
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
