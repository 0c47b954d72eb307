import * as z from "zod";
import { cacheLifetimes } from "./http-limits.ts";
import { coreProduct } from "./core.ts";
import { endpoint, extensionPrefix, route } from "./endpoint.ts";
import { outcomesInput, outcomesOutput } from "./outcomes.ts";
import { enveloped, flat } from "./reply.ts";
import { isLegalId, maxLength, shape, timestamp, type FieldError } from "./shapes.ts";
import { lazily } from "./lazily.ts";
import { lazyObject } from "./lazy-object.ts";
import { nextPage, partOfText, searchListing, searchPages } from "./lists/filters.ts";
import { productFields, specFields, type SpecName } from "./record-fields.ts";
import { schemasOf } from "./record-schema.ts";

/** A normalized spec value, or why it is ignored. */
export type NormalizedSpec =
  | { readonly value: string }
  | { readonly ignored: "empty" | "N/A" | "characters" | "length" };

/** The maximum length of a spec value before its normalization, in characters. */
const maxRawSpec = 4_096;

/**
 * Normalizes a spec value: strips trailing spaces, and leading zeros, spaces, and dashes in any order. `N/A` is ignored.
 * Source: spec "Spec value rules". Assumed: characters and length are checked after normalization.
 */
export function normalizeSpec(raw: string): NormalizedSpec {
  if (raw.length > maxRawSpec) return { ignored: "length" };
  if (raw.trim() === "N/A") return { ignored: "N/A" };
  const value = raw.trimEnd().replace(/^[0\s-]+/, "");
  if (value === "") return { ignored: "empty" };
  if (value.length > maxLength.spec) return { ignored: "length" };
  return isLegalId(value) ? { value } : { ignored: "characters" };
}

export const specs = lazily(() => z.looseObject(schemasOf(specFields, "create")));

const ownFields = Object.fromEntries(Object.entries(productFields).filter(([name]) => !(name in specFields))) as Omit<
  typeof productFields,
  SpecName
>;

const otherFields = lazily(() => ({
  /** An alternative name for `currency_iso`, used by sample payloads. */
  currency: shape.currency.nullish(),
  specs: specs().nullish(),
}));

/** One product to create. Source: spec "Product (input)". */
export const productInput = lazyObject(() => ({ ...schemasOf(ownFields, "create"), ...otherFields() }));
export type ProductInput = z.output<ReturnType<typeof productInput>>;

/** One product to update. Only fields that are present and valid are changed. Source: spec "mass_update". */
export const productChange = lazyObject(() => ({ ...schemasOf(ownFields, "update"), ...otherFields() }));

/** Errors in the products of a bulk call. Assumed: an object keyed by ordinal, because a product can have several. */
export const productErrors = lazily(() =>
  z.record(z.string(), z.looseObject({ product_id: z.string().optional(), field: z.string(), error: z.string() })),
);
export type ProductError = FieldError & { readonly product_id: string };

/** Page sizes of the missed products. Assumed: the specification states neither. */
export const missedPage = { default: 10, max: 1_000 } as const;

/** The value of `missed_products_ids` for all missed products. Assumed: there is no other way to find out their IDs. */
export const allMissedProducts = "all";

const missedIds = lazily(() =>
  z
    .string({ error: "is missing" })
    .regex(/^[A-Za-z0-9-]+(?:,[A-Za-z0-9-]+)*$/, {
      error: "must be a comma-separated list of IDs (letters, digits, and -)",
    })
    .transform((list) => list.split(",")),
);

/** Source: spec "Missed product (output)". */
const missedProduct = lazily(() =>
  z.object({
    id: z.number().int(),
    product_name: z.string(),
    product_sku: z.string(),
    user_email: z.string(),
    user_display_name: z.string(),
    missed_product_date: timestamp(),
    order_id: z.string(),
    purchase_date: timestamp(),
    mail_delivery_date: timestamp().nullable(),
  }),
);

/** Maximum number of promoted products. Assumed: the specification does not state it. */
export const maxPromoted = 10;

/** Source: spec "Promoted product (output)". */
const promotedProduct = lazily(() =>
  z.object({
    products_app_id: z.number().int(),
    url: z.string(),
    price: z.number(),
    currency: z.string(),
    type: z.string(),
    name: z.string(),
    destination_app_key: z.string(),
    position: z.number().int(),
    source_products_app_id: z.number().int().nullable(),
    matching_algorithm: z.string().nullable(),
    domain_key: z.string(),
    image_title: z.string(),
    average_score: z.number(),
    total_review: z.number().int(),
    image: z.string(),
  }),
);

const bulk = {
  /** Product ID to product. Products are validated one by one, so that an invalid product does not fail the call. */
  input: () =>
    z.object({
      products: z.record(z.string(), z.unknown(), { error: "must be an object keyed by product ID" }),
      ...outcomesInput(),
    }),
  output: () => z.object({ errors: productErrors().optional(), ...outcomesOutput() }),
  reply: flat,
  auth: "utoken",
  effect: "repeatable",
  roles: ["importer"],
  batch: { field: "products", recommended: 200, max: 500 },
} as const;

export const products = {
  missed: endpoint({
    summary: "List order lines that were skipped because of an invalid product ID",
    listing: { items: "missed_products", by: "start", size: { field: "size", max: missedPage.max } },
    method: "GET",
    paths: ["/missed_products/{app_key}/search_drill_down"],
    auth: "utoken",
    effect: "read",
    input: () =>
      z.object({
        missed_products_ids: missedIds(),
        start: shape.count.optional(),
        size: shape.page.optional(),
      }),
    output: () =>
      z.object({
        pagination: z.object({ total: z.number().int(), start: z.number().int(), size: z.number().int() }),
        missed_products: z.array(missedProduct()),
      }),
    reply: enveloped,
  }),
  search: endpoint({
    summary: "List the products whose ID or name contains a text, newest first",
    listing: { items: "products", ...searchListing },
    ...route("GET", `${extensionPrefix}/apps/{app_key}/products`),
    effect: "read",
    input: () => ({ search: partOfText(), ...searchPages() }),
    output: () => ({ products: z.array(coreProduct()), pagination: nextPage() }),
  }),
  promoted: endpoint({
    summary: "List promoted products",
    listing: { items: "products" },
    method: "GET",
    paths: ["/v1/widget/{app_key}/products/promoted_products"],
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.storefront,
    input: () => z.object({}),
    output: () => z.object({ products: z.array(promotedProduct()) }),
    reply: enveloped,
  }),
  setPromoted: endpoint({
    summary: "Set the promoted products; an empty list restores automatic selection",
    overwrites: { question: "Replace the promoted products" },
    method: "PUT",
    paths: [`${extensionPrefix}/apps/{app_key}/promoted_products`],
    extension: "own",
    auth: "utoken",
    effect: "repeatable",
    input: () =>
      z.object({
        product_ids: z
          .array(shape.id, { error: "must be a list of product IDs" })
          .max(maxPromoted, { error: `has more than ${maxPromoted} elements` }),
      }),
    output: () => z.object({ products: z.array(promotedProduct()) }),
    reply: enveloped,
  }),
  massCreate: endpoint({
    summary: "Create products in bulk",
    overwrites: { question: "Store these products, replacing the values of those that exist" },
    method: "POST",
    paths: ["/apps/{app_key}/products/mass_create"],
    ...bulk,
  }),
  massUpdate: endpoint({
    summary: "Update products in bulk",
    overwrites: { question: "Update these products" },
    method: "PUT",
    paths: ["/apps/{app_key}/products/mass_update"],
    ...bulk,
  }),
};
