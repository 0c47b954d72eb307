import * as z from "zod";
import { cacheLifetimes } from "./http-limits.ts";
import { endpoint, extensionPrefix, route } from "./endpoint.ts";
import { flatResponse, list } from "./reply.ts";
import { shape, timestamp } from "./shapes.ts";
import { lazyObject } from "./lazy-object.ts";
import { lazily } from "./lazily.ts";
import { jsonLimits, parseJson } from "./json-text.ts";
import { score, starDistribution } from "./reviews/shapes.ts";
import {
  photo,
  questionList,
  rating,
  reviewedProduct,
  storefrontPagination,
  storefrontSort,
  storefrontSorts,
} from "./storefront/storefront.ts";

/** Number of elements on a page for search engines. The page of a store lists few of its own reviews, and links to all. */
export const seoPageSizes = {
  reviews: 50,
  questions: 20,
  photos: 12,
  products: 30,
  latestReviews: 10,
  siteReviews: 5,
} as const;

const seoReview = lazyObject(() => ({
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
  /** The author received a coupon for the review. Otherwise absent. */
  received_coupon: z.boolean().optional(),
  votes_up: z.number().int().optional(),
  votes_down: z.number().int().optional(),
  photos: z.array(photo()).optional(),
  /** Present if the review is not of the product of the page. */
  product: reviewedProduct().optional(),
}));
export type SeoReview = z.output<ReturnType<typeof seoReview>>;

/** A product, or the store, with its reviews. */
const seoPage = lazyObject(() => ({
  /** The store's product ID; null for the store. */
  product_id: z.string().nullable(),
  name: z.string(),
  url: z.string(),
  image_url: z.string().nullable(),
  description: z.string().nullable(),
  average_score: z.number(),
  total_reviews: z.number().int(),
  reviews: z.array(seoReview()),
}));

/** What the page of a store lists besides its own reviews. */
const seoOverview = lazyObject(() => ({
  pagination: storefrontPagination(),
  /** Rated products, best first. */
  products: z.array(reviewedProduct().extend(rating())),
  /** The latest reviews of all products. */
  latest_reviews: z.array(seoReview()),
}));

/** The content of a page for search engines. */
const fullSeoPage = lazily(() =>
  seoPage().extend({
    star_distribution: starDistribution(),
    /** Of the reviews, as filtered. */
    pagination: storefrontPagination(),
    /** The filter of the reviews; null for all. */
    stars: z.number().int().nullable(),
    sort: z.enum(storefrontSorts),
    /** The latest photos of customers. */
    photos: z.array(photo().extend({ display_name: z.string() })),
    questions: z.object(questionList()),
    /** Present if the call names no product. */
    overview: seoOverview().optional(),
    /** The URL of the page. */
    page_url: z.string(),
    /** Whether anyone can ask a question about the product. */
    takes_questions: z.boolean(),
    /** Where authors can request the link to everything they have written. */
    my_reviews_url: z.string(),
  }),
);
export type FullSeoPage = z.output<ReturnType<typeof fullSeoPage>>;

/** The name of a page of a store without a name. */
export const unnamedPage = "This store";
export type SeoPage = z.output<ReturnType<typeof seoPage>>;

export const seo = {
  checkSubdomain: endpoint({
    summary: "Check whether a subdomain is available",
    ...route("GET", "/apps/{app_key}/subomain_check/{subdomain}"),
    effect: "read",
    input: () => ({ subdomain: shape.id }),
    output: () => ({ subdomain: z.object({ available: z.string(), subdomain: z.string() }) }),
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
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.searchEngines,
    input: () => ({
      /** `service_site_reviews` for the reviews of the store. */
      product_id: shape.legalId.optional(),
      /** Of the reviews; without a product, of the products. */
      page: shape.page.optional(),
      sort: storefrontSort(),
      /** Only reviews with this number of stars. */
      stars: score().optional(),
      questions_page: shape.page.optional(),
    }),
    output: () => ({ page: fullSeoPage() }),
  }),
};

/** Source: practice of services of this kind. */
export const batchMethods = ["main_widget", "bottomline", "testimonials", "reviews"] as const;
export type BatchMethod = (typeof batchMethods)[number];

/** Maximum number of methods per call. Assumed: the specification does not state a limit. */
export const maxBatchMethods = 50;

/** Maximum length of the reviews that a call shows, in characters. Assumed: as above. A page of a shop shows a few. */
export const maxBatchCharacters = 2_000_000;

const method = lazyObject(() => ({
  method: z.enum(batchMethods, { error: `must be one of ${batchMethods.join(", ")}` }),
  params: z
    .looseObject({
      /** The store's product ID. */
      pid: shape.reference.nullish(),
      page: shape.page.nullish(),
      per_page: shape.page.nullish(),
    })
    .default({}),
}));

/** A list, or its JSON text, as sent in a query or a form. */
const methods = lazily(() =>
  z.preprocess(
    (value) => {
      if (typeof value !== "string") return value;
      try {
        return parseJson(value, jsonLimits.open);
      } catch {
        return value;
      }
    },
    z
      .array(method(), { error: "must be a list of {method, params}" })
      .max(maxBatchMethods, { error: `has more than ${maxBatchMethods} elements` }),
  ),
);

/**
 * Source: spec "Core API" shows only `/batch?methods=[]`; similar services use POST.
 * Assumed: GET is accepted as well as POST; in a query, `methods` is JSON text.
 */
export const batch = {
  run: endpoint({
    summary: "Get several HTML fragments for inline SEO",
    method: "POST",
    alsoGet: true,
    paths: ["/batch"],
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.content,
    input: () => ({ methods: methods() }),
    output: () => ({ results: z.array(z.object({ result: z.string() })) }),
    reply: list("results"),
  }),
};
