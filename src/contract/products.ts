import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { flat } from "./reply.ts";
import { isLegalId, maxLength, shape, type FieldError } from "./shapes.ts";

/** The spec fields of a product. Source: spec "Product (input)". */
export const specNames = ["upc", "mpn", "brand", "isbn", "external_sku", "sku"] as const;
export type SpecName = (typeof specNames)[number];

/** What is left of a spec value, or why nothing is. */
export type NormalisedSpec =
  | { readonly value: string }
  | { readonly ignored: "empty" | "N/A" | "characters" | "length" };

/**
 * Strips trailing spaces and any mix of leading zeros, spaces and dashes; `N/A` is ignored.
 * Source: spec "Spec value rules". Assumed: characters and length are checked after normalising.
 */
export function normaliseSpec(raw: string): NormalisedSpec {
  if (raw.trim() === "N/A") return { ignored: "N/A" };
  const value = raw.replace(/\s+$/, "").replace(/^[0\s-]+/, "");
  if (value === "") return { ignored: "empty" };
  if (value.length > maxLength.spec) return { ignored: "length" };
  return isLegalId(value) ? { value } : { ignored: "characters" };
}

export const specs = z.looseObject(
  Object.fromEntries(specNames.map((name) => [name, shape.reference.nullish()])) as Record<
    SpecName,
    z.ZodOptional<z.ZodNullable<typeof shape.reference>>
  >,
);

const optionalFields = {
  image_url: shape.optionalUrl.optional(),
  description: shape.text.nullish(),
  currency_iso: shape.currency.optional(),
  /** The name that sample payloads use for `currency_iso`. */
  currency: shape.currency.optional(),
  price: shape.price.optional(),
  product_tags: shape.tags.optional(),
  specs: specs.nullish(),
  blacklisted: shape.boolean.optional(),
};

/** One product to create. Source: spec "Product (input)". */
export const productInput = z.object({ name: shape.name, url: shape.url, ...optionalFields });
export type ProductInput = z.output<typeof productInput>;

/** One product to update: only what is given, and valid, overwrites. Source: spec "mass_update". */
export const productChange = z.object({
  name: shape.name.optional(),
  url: shape.url.optional(),
  ...optionalFields,
});

/** Row problems of a bulk call. Assumed: an object keyed by ordinal, since one product can have several. */
export const productErrors = z.record(
  z.string(),
  z.looseObject({ product_id: z.string().optional(), field: z.string(), error: z.string() }),
);
export type ProductError = FieldError & { readonly product_id: string };

const bulk = {
  /** Product id to product; each is checked by itself, so that one bad product does not refuse the call. */
  input: z.object({
    products: z.record(z.string(), z.unknown(), { error: "must be an object keyed by product id" }),
  }),
  output: z.object({ errors: productErrors.optional() }),
  reply: flat,
  auth: "utoken",
  effect: "repeatable",
  batch: { field: "products", recommended: 200, max: 500 },
} as const;

export const products = {
  massCreate: endpoint({
    summary: "Create products in bulk",
    method: "POST",
    paths: ["/apps/{app_key}/products/mass_create"],
    ...bulk,
  }),
  massUpdate: endpoint({
    summary: "Update products in bulk",
    method: "PUT",
    paths: ["/apps/{app_key}/products/mass_update"],
    ...bulk,
  }),
};
