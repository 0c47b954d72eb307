import {
  maxLength,
  normaliseSpec,
  type OrderProduct,
  type ProductInput,
  specNames,
  type SpecName,
} from "../../contract/index.ts";

/**
 * A product on its way into the database, in the order of its columns; null is what was not given.
 * A list, not an object: many of them go to one statement.
 * Assumed: product and order ids are kept as they came; only spec values are normalised.
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

/** Where a row's `external_sku` stands. The specs follow `blacklisted` in the order of the contract's names. */
export const externalSkuAt = 13;

type Specs = Readonly<Partial<Record<SpecName, string | null | undefined>>>;

/** Says why a spec value is not stored. */
export type OnBadSpec = (name: SpecName, error: string) => void;

const given = (value: string | null | undefined) => (value === undefined || value === "" ? null : value);

/** An update's description: empty text erases, null leaves it. */
const erasing = (value: string | null | undefined) => (value === undefined ? null : (value ?? ""));

const noSpecs = specNames.map(() => null);

/** `N/A` and what is empty after normalising count as not given. */
function readSpecs(specs: Specs | null | undefined, onBad: OnBadSpec): (string | null)[] {
  if (!specs) return noSpecs;
  return specNames.map((name) => {
    const raw = specs[name];
    if (raw === undefined || raw === null) return null;
    const normalised = normaliseSpec(raw);
    if ("value" in normalised) return normalised.value;
    if (normalised.ignored === "characters") onBad(name, "allows only letters, digits, _ and -");
    if (normalised.ignored === "length") onBad(name, `is longer than ${maxLength.spec} characters`);
    return null;
  });
}

/**
 * A product of a bulk call as a row; an empty description is kept as such where it erases.
 * Assumed: `currency` is taken where `currency_iso` is absent; an empty value counts as not given, but for an update's description.
 */
export function toProductRow(
  productId: string,
  product: Partial<ProductInput>,
  { erases, onBadSpec }: { readonly erases: boolean; readonly onBadSpec: OnBadSpec },
): ProductRow {
  return [
    productId,
    given(product.name),
    given(product.url),
    given(product.image_url),
    erases ? erasing(product.description) : given(product.description),
    given(product.currency_iso) ?? given(product.currency),
    given(product.price),
    given(product.product_tags),
    product.blacklisted === undefined ? null : Number(product.blacklisted),
    ...readSpecs(product.specs, onBadSpec),
  ] as ProductRow;
}

/** The product that an order names. Its currency is the order's. */
export function toOrderedProductRow(
  productId: string,
  product: OrderProduct,
  currency: string | null,
  onBadSpec: OnBadSpec,
): ProductRow {
  return [
    productId,
    product.name,
    product.url,
    given(product.image),
    given(product.description),
    currency,
    given(product.price),
    given(product.product_tags),
    null,
    ...readSpecs(product.specs, onBadSpec),
  ] as ProductRow;
}

/** Lays what a later row gives over an earlier row of the same product. */
export function overlay(earlier: ProductRow, later: ProductRow): ProductRow {
  return earlier.map((value, at) => later[at] ?? value) as ProductRow;
}
