import * as z from "zod";
import { endpoint, extensionPrefix } from "./endpoint.ts";
import { enveloped, flatResponse } from "./reply.ts";
import { shape, timestamp } from "./shapes.ts";
import { lazily } from "./lazily.ts";

/** Reviews on an SEO page, the latest. */
export const seoPageReviews = 50;

/** What an SEO page shows: a product, or the store itself, and its reviews. */
const seoPage = lazily(() =>
  z.object({
    /** The store's own product id; null for the store. */
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
        /** Nobody has shown yet that the address is the author's. */
        anonymous: z.boolean(),
        /** The store's. */
        comment: z.string().nullable(),
        created_at: timestamp(),
      }),
    ),
  }),
);
export type SeoPage = z.output<ReturnType<typeof seoPage>>;

export const seo = {
  checkSubdomain: endpoint({
    summary: "Tell whether a subdomain is free",
    method: "GET",
    paths: ["/apps/{app_key}/subomain_check/{subdomain}"],
    auth: "utoken",
    effect: "read",
    input: () => z.object({ subdomain: shape.id }),
    output: () => z.object({ subdomain: z.object({ available: z.string(), subdomain: z.string() }) }),
    reply: enveloped,
  }),
  pageUrl: endpoint({
    summary: "Get the address of a product's page of reviews, or of the store's",
    method: "GET",
    paths: ["/v1/seo_pages/url/{app_key}/{product_id}", "/v1/seo_pages/url/{app_key}"],
    auth: "account",
    effect: "read",
    input: () => z.object({ product_id: shape.legalId.optional() }),
    output: () => z.object({ seo_page_url: z.string() }),
    reply: flatResponse,
  }),
  page: endpoint({
    summary: "Read a product's page of reviews, or the store's",
    method: "GET",
    paths: [
      `${extensionPrefix}/apps/{app_key}/seo_pages/{product_id}`,
      `${extensionPrefix}/apps/{app_key}/seo_pages`,
    ],
    htmlPaths: [
      `${extensionPrefix}/pages/{app_key}/products/{product_id}`,
      `${extensionPrefix}/pages/{app_key}/products`,
    ],
    extension: "own",
    auth: "account",
    effect: "read",
    input: () => z.object({ product_id: shape.legalId.optional() }),
    output: () => z.object({ page: seoPage() }),
    reply: enveloped,
  }),
};
