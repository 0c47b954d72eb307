import * as z from "zod";
import { endpoint, route } from "./endpoint.ts";
import { bare } from "./reply.ts";
import { detailsQuery, shape, timestamp } from "./shapes.ts";
import { lazyObject } from "./lazy-object.ts";
import { productDetails } from "./record-fields.ts";
import { sameSchema } from "./record-schema.ts";

/** Requests per window and store, across all endpoints and tokens. Source: spec "Limits". */
export const coreRateLimit = { requests: 5, windowMs: 1_000 } as const;

/** Maximum `limit` of a list. Source: spec "Limits". Assumed: a larger value is reduced to this one. */
export const coreListLimit = 100;

/** A product as listed by the core API. Assumed: the specification shows no body; the format is that of similar services. */
export const coreProduct = lazyObject(() => ({
  id: z.number().int(),
  external_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  url: z.string(),
  image_url: z.string().nullable(),
  price: z.string().nullable(),
  currency: z.string().nullable(),
  brand: z.string().nullable(),
  sku: z.string().nullable(),
  mpn: z.string().nullable(),
  gtins: z.array(z.object({ declared_type: z.string(), value: z.string() })),
  status: z.string(),
  created_at: timestamp(),
  updated_at: timestamp(),
  /** The following fields are present only with `details`. */
  blacklisted: z.boolean().optional(),
  ...sameSchema(productDetails, z.string().nullish()),
}));

export const core = {
  createToken: endpoint({
    summary: "Issue an access token for the core API",
    returnsSecret: true,
    secretFields: ["secret"],
    needsSecret: true,
    ...route("POST", "/core/v3/stores/{store_id}/access_tokens"),
    extension: "practice",
    auth: "account",
    effect: "repeatable",
    input: () => ({ secret: z.string({ error: "is missing" }) }),
    output: () => ({ access_token: z.string() }),
    reply: bare,
    errorForm: "core",
  }),
  listProducts: endpoint({
    summary: "List products",
    listing: { items: "products", by: "page_info", size: { field: "limit", max: coreListLimit } },
    ...route("GET", "/core/v3/stores/{store_id}/products"),
    auth: "core",
    effect: "read",
    input: () => ({
      updated_at_min: shape.time.optional(),
      limit: shape.page.optional(),
      page_info: z.string().optional(),
      ...detailsQuery(),
    }),
    output: () => ({
      products: z.array(coreProduct()),
      pagination: z.object({
        next_page_info: z.string().nullable(),
        /** Present only with `details`: the highest product ID of the account; 0 without products. */
        last_id: z.number().int().optional(),
      }),
    }),
    reply: bare,
    errorForm: "core",
  }),
};
