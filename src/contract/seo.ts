import * as z from "zod";
import { cacheLifetimes } from "./http-limits.ts";
import { endpoint, extensionPrefix, route } from "./endpoint.ts";
import { enveloped, flatResponse } from "./reply.ts";
import { shape, timestamp } from "./shapes.ts";
import { lazyObject } from "./lazy-object.ts";

/** Number of reviews on an SEO page; the latest are shown. */
export const seoPageReviews = 50;

/** The content of an SEO page: a product, or the store, with its reviews. */
const seoPage = lazyObject(() => ({
  /** The store's product ID; null for the store. */
  product_id: z.string().nullable(),
  name: z.string(),
  url: z.string(),
  image_url: z.string().nullable(),
  description: z.string().nullable(),
  average_score: z.number(),
  total_reviews: z.number().int(),
  reviews: z.array(
    z.object({
      id: z.number().int(),
      title: z.string(),
      content: z.string(),
      score: z.number().int(),
      display_name: z.string(),
      verified_buyer: z.boolean(),
      /** The author's email address is not verified. */
      anonymous: z.boolean(),
      /** The store's comment. */
      comment: z.string().nullable(),
      created_at: timestamp(),
    }),
  ),
}));
export type SeoPage = z.output<ReturnType<typeof seoPage>>;

export const seo = {
  checkSubdomain: endpoint({
    summary: "Check whether a subdomain is available",
    ...route("GET", "/apps/{app_key}/subomain_check/{subdomain}"),
    auth: "utoken",
    effect: "read",
    input: () => ({ subdomain: shape.id }),
    output: () => ({ subdomain: z.object({ available: z.string(), subdomain: z.string() }) }),
    reply: enveloped,
  }),
  pageUrl: endpoint({
    summary: "Get the URL of the review page of a product or the store",
    ...route("GET", "/v1/seo_pages/url/{app_key}/{product_id}", "/v1/seo_pages/url/{app_key}"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.searchEngines,
    input: () => ({ product_id: shape.legalId.optional() }),
    output: () => ({ seo_page_url: z.string() }),
    reply: flatResponse,
  }),
  page: endpoint({
    summary: "Get the review page of a product or the store",
    ...route(
      "GET",
      `${extensionPrefix}/apps/{app_key}/seo_pages/{product_id}`,
      `${extensionPrefix}/apps/{app_key}/seo_pages`,
    ),
    htmlPaths: [
      `${extensionPrefix}/pages/{app_key}/products/{product_id}`,
      `${extensionPrefix}/pages/{app_key}/products`,
    ],
    extension: "own",
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.searchEngines,
    input: () => ({ product_id: shape.legalId.optional() }),
    output: () => ({ page: seoPage() }),
    reply: enveloped,
  }),
};
