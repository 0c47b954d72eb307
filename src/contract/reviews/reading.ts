import * as z from "zod";
import { cacheLifetimes } from "../http-limits.ts";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { bare, statusWith, withoutInside } from "../reply.ts";
import { detailsQuery, shape } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import {
  bottomLinePage,
  fullReview,
  listedReview,
  maxReviewsPerPage,
  reviewPage,
  reviewSorts,
  reviewStates,
  score,
  siteReviewsId,
  topReview,
  widgetPage,
} from "./shapes.ts";
import { nameList, nextPage, searchListing, searchPaging, searchText, timeRange } from "../lists/filters.ts";

const scores = ["1", "2", "3", "4", "5"] as const;

const scoreList = lazily(() => nameList(scores).transform((list) => list.map(Number)));

/** Source: spec "Bottom lines". */
const bottomLineItem = lazyObject(() => ({
  domain_key: z.string(),
  product_score: z.number(),
  total_reviews: z.number().int(),
}));

/** Case-insensitive. */
const direction = lazily(() =>
  z
    .string({ error: "must be ASC or DESC" })
    .transform((value) => value.toUpperCase())
    .pipe(z.enum(["ASC", "DESC"], { error: "must be ASC or DESC" })),
);

const sort = lazily(() =>
  z
    .union([z.string().transform((one) => [one]), z.array(z.string())], { error: "must be a list of names" })
    .pipe(z.array(z.enum(reviewSorts, { error: `must be one of ${reviewSorts.join(", ")}` })).max(reviewSorts.length)),
);

const widgetQuery = lazily(() => ({
  per_page: shape.page.optional(),
  page: shape.page.optional(),
  star: score().optional(),
  sort: sort().optional(),
  direction: direction().optional(),
}));

const listQuery = lazily(() => ({
  since_id: shape.count.optional(),
  since_date: shape.time.optional(),
  since_updated_at: shape.time.optional(),
  count: shape.page.optional(),
  page: shape.page.optional(),
}));

/** Operations that read reviews: lists, bottom lines, and widgets. */
export const reviewReading = {
  list: endpoint({
    summary: "List the account's reviews",
    listing: { items: "reviews", by: "since_id", size: { field: "count", max: maxReviewsPerPage } },
    ...route("GET", "/v1/apps/{app_key}/reviews"),
    effect: "read",
    input: () => ({
      ...listQuery(),
      deleted: shape.boolean.optional(),
      /** Assumed: an extension of the specification: only reviews in this state, whether published or not. */
      state: z.enum(reviewStates, { error: `must be one of ${reviewStates.join(", ")}` }).optional(),
      user_reference: shape.reference.optional(),
      ...detailsQuery(),
    }),
    output: () => ({ reviews: z.array(listedReview()) }),
    reply: bare,
  }),
  listByUser: endpoint({
    summary: "List reviews by the store's reference for their author",
    listing: { items: "reviews", by: "since_id", size: { field: "count", max: maxReviewsPerPage } },
    ...route("GET", "/products/{app_key}/service_global_reviews/reviews.json"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.revalidated,
    input: () => ({ user_reference: shape.reference.optional(), ...listQuery() }),
    output: () => ({ reviews: z.array(fullReview()), total_reviews: z.number().int() }),
  }),
  get: endpoint({
    summary: "Get a review",
    ...route("GET", "/reviews/{review_id}", "/reviews/{review_id}.json"),
    auth: "open",
    effect: "read",
    caching: cacheLifetimes.content,
    input: () => ({ review_id: shape.rowId }),
    output: () => ({ review: fullReview() }),
  }),
  top: endpoint({
    summary: "List the three latest 5-star reviews",
    listing: { items: "reviews" },
    ...route("GET", "/apps/{app_key}/top_reviews.json"),
    htmlPaths: ["/apps/{app_key}/top_reviews.html"],
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.storefront,
    output: () => ({ reviews: z.array(topReview()) }),
    reply: withoutInside(statusWith, "reviews", ["product_name", "display_name"]),
  }),
  widget: endpoint({
    summary: "Get a product's reviews for display on its page",
    listing: { items: "reviews", by: "page", size: { field: "per_page", max: reviewPage.max } },
    ...route("GET", "/v1/widget/{app_key}/products/{product_id}/reviews.json"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.storefront,
    input: () => ({
      product_id: shape.legalId,
      ...widgetQuery(),
    }),
    output: () => widgetPage(),
  }),
  siteWidget: endpoint({
    summary: "Get the reviews of the store itself",
    listing: { items: "reviews", by: "page", size: { field: "per_page", max: reviewPage.max } },
    ...route("GET", `/v1/widget/{app_key}/products/${siteReviewsId}/reviews.json`),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.storefront,
    input: () => ({
      ...widgetQuery(),
    }),
    output: () => widgetPage(),
  }),
  bottomLine: endpoint({
    summary: "Get the review count and average score of a product",
    ...route("GET", "/products/{app_key}/{product_id}/bottomline"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.storefront,
    input: () => ({ product_id: shape.id }),
    output: () => ({
      bottomline: z.object({ average_score: z.number(), total_reviews: z.number().int() }),
    }),
    supportsJsonp: true,
  }),
  bottomLines: endpoint({
    summary: "Get the review count and average score of all products",
    listing: {
      items: "bottomlines",
      by: "page",
      mayBeAbsent: true,
      size: { field: "count", max: bottomLinePage.max },
    },
    ...route("GET", "/v1/apps/{app_key}/bottom_lines", "/apps/{app_key}/bottom_lines"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.allProducts,
    input: () => ({
      count: shape.page.optional(),
      page: shape.page.optional(),
      since_id: shape.count.optional(),
      since_date: shape.time.optional(),
    }),
    output: () => ({
      bottomlines: z.array(bottomLineItem()).optional(),
      page: z.string().optional(),
      per_page: z.string().optional(),
    }),
    supportsJsonp: true,
    isReadLimited: true,
  }),
  search: endpoint({
    summary: "List the account's reviews that match filters, newest first",
    listing: { items: "reviews", ...searchListing },
    ...route("GET", `${extensionPrefix}/apps/{app_key}/reviews`),
    effect: "read",
    input: () => ({
      email: shape.email.optional(),
      /** The store's ID; `service_site_reviews` for reviews of the store. */
      product_id: shape.id.optional(),
      /** The order whose email led to the review. */
      order_id: shape.id.optional(),
      /** Comma-separated list. */
      score: scoreList().optional(),
      /** Comma-separated list (default: published). */
      state: nameList(reviewStates).optional(),
      /** Include reviews in all states. */
      deleted: shape.boolean.optional(),
      ...timeRange(),
      /** Searches title, content, and the author's name. The list is sorted by ID. */
      search: searchText().optional(),
      with_images: shape.boolean.optional(),
      /** Only reviews without a comment of the store. */
      unanswered: shape.boolean.optional(),
      user_reference: shape.reference.optional(),
      ...searchPaging(),
    }),
    output: () => ({ reviews: z.array(listedReview()), pagination: nextPage() }),
  }),
};
