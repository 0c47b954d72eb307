import * as z from "zod";
import { colorSchemes, languages } from "../brand/brand.ts";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { cacheLifetimes } from "../http-limits.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { searchText } from "../lists/filters.ts";
import { score, starDistribution } from "../reviews/shapes.ts";
import { shape, timestamp } from "../shapes.ts";
import { maxChosenReviews, maxRatedProducts } from "./limits.ts";

/** Page sizes of reviews, photos, and questions. */
export const storefrontPage = { default: 10, max: 50 } as const;

export const storefrontSorts = ["newest", "oldest", "highest", "lowest", "most_helpful"] as const;
export type StorefrontSort = (typeof storefrontSorts)[number];

/** Elements that the shop can include as HTML, for readers without JavaScript. */
export const storefrontElements = [
  "rating",
  "reviews",
  "questions",
  "photos",
  "carousel",
  "badge",
  "review-form",
] as const;
export type StorefrontElement = (typeof storefrontElements)[number];

/**
 * A photo of a review. `sizes` has the URLs by the length of the longer edge, in pixels; `width` and `height` are those of
 * the largest, and `color` is its average (`#rrggbb`), for a placeholder. A photo that is not stored here has only one size,
 * and neither dimensions nor a color.
 */
export const photo = lazyObject(() => ({
  id: z.number().int(),
  width: z.number().int().nullable(),
  height: z.number().int().nullable(),
  color: z.string().nullable(),
  sizes: z.object({ "160": z.string().optional(), "480": z.string().optional(), "1200": z.string() }),
}));
export type Photo = z.output<ReturnType<typeof photo>>;

export const reviewedProduct = lazyObject(() => ({
  product_id: z.string(),
  name: z.string(),
  url: z.string(),
  image_url: z.string().nullable(),
}));

const reviewFields = lazily(() => ({
  id: z.number().int(),
  score: z.number().int(),
  title: z.string(),
  content: z.string(),
  created_at: timestamp(),
  display_name: z.string(),
  verified_buyer: z.boolean(),
}));

const review = lazyObject(() => ({
  ...reviewFields(),
  /** The author's email address is not verified. */
  anonymous: z.boolean(),
  votes_up: z.number().int(),
  votes_down: z.number().int(),
  /** The author received a coupon for the review. Otherwise absent. */
  received_coupon: z.boolean().optional(),
  /** The store's comment. */
  comment: z.object({ content: z.string(), created_at: timestamp() }).nullable(),
  photos: z.array(photo()),
  /** Present if the review is not of the product that the call names. */
  product: reviewedProduct().optional(),
}));
export type StorefrontReview = z.output<ReturnType<typeof review>>;

export const rating = lazily(() => ({ average_score: z.number(), total_reviews: z.number().int() }));

export const storefrontPagination = lazyObject(() => ({
  page: z.number().int(),
  per_page: z.number().int(),
  /** Number of elements on all pages. */
  total: z.number().int(),
}));

const photoPage = lazily(() => ({
  pagination: storefrontPagination(),
  photos: z.array(photo().extend({ review: z.object(reviewFields()) })),
}));
export type StorefrontPhotos = z.output<z.ZodObject<ReturnType<typeof photoPage>>>;

const question = lazyObject(() => ({
  id: z.number().int(),
  content: z.string(),
  created_at: timestamp(),
  display_name: z.string(),
  answers: z.array(
    z.object({
      id: z.number().int(),
      content: z.string(),
      created_at: timestamp(),
      display_name: z.string(),
      /** Whether the store answers. */
      is_shop: z.boolean(),
      votes_up: z.number().int(),
      votes_down: z.number().int(),
    }),
  ),
}));
export type StorefrontQuestion = z.output<ReturnType<typeof question>>;

export const questionList = lazily(() => ({
  pagination: storefrontPagination(),
  /** Number of answers to all questions of the product. */
  total_answers: z.number().int(),
  questions: z.array(question()),
}));
export type StorefrontQuestions = z.output<z.ZodObject<ReturnType<typeof questionList>>>;

const reviewPage = lazily(() => ({
  /** Null if the product is unknown, or the call names none. */
  product: reviewedProduct().nullable(),
  /** Of all published reviews. */
  rating: z.object({ ...rating(), star_distribution: starDistribution() }),
  /** `star_distribution` counts what matches the filters other than `stars`, of which `total_reviews` have these stars. */
  matching: z.object({ total_reviews: z.number().int(), star_distribution: starDistribution() }),
  pagination: storefrontPagination(),
  reviews: z.array(review()),
}));
export type StorefrontReviews = z.output<z.ZodObject<ReturnType<typeof reviewPage>>>;

const color = lazily(() => z.string());

const shop = lazyObject(() => ({
  name: z.string(),
  url: z.string(),
  /** The language of elements on a page that states none. */
  language: z.enum(languages),
  /** Colors (`#rrggbb`) that have enough contrast on white, and those for dark pages; the radius in pixels. */
  brand: z.object({
    accent_color: color(),
    accent_text_color: color(),
    star_color: color(),
    dark_accent_color: color(),
    dark_accent_text_color: color(),
    dark_star_color: color(),
    radius: z.number().int(),
    color_scheme: z.enum(colorSchemes),
  }),
  consent_text: z.string().nullable(),
  privacy_url: z.string().nullable(),
  terms_url: z.string().nullable(),
  /** Texts of elements that the shop has replaced, in ICU MessageFormat, by language and key. */
  messages: z.record(z.string(), z.record(z.string(), z.string())),
  features: z.object({ photos: z.boolean(), questions: z.boolean() }),
  limits: z.object({ photo_bytes: z.number().int(), photos_per_review: z.number().int() }),
}));
export type StorefrontShop = z.output<ReturnType<typeof shop>>;

/** A value, or a list of values. */
function oneOrMore<T extends z.ZodType>(element: T, max: number) {
  return z
    .union([z.array(z.unknown()), z.unknown().transform((value) => [value])])
    .pipe(z.array(element).max(max, { error: `has more than ${max} elements` }));
}

const paging = lazily(() => ({ page: shape.page.optional(), per_page: shape.page.optional() }));

/** How reviews are sorted (default: newest). */
export const storefrontSort = lazily(() =>
  z.enum(storefrontSorts, { error: `must be one of ${storefrontSorts.join(", ")}` }).optional(),
);

const path = `${extensionPrefix}/shop/{app_key}`;

const isPublicRead = { auth: "account", effect: "read", caching: cacheLifetimes.storefront } as const;

const pagesOf = (items: string) =>
  ({ items, by: "page", size: { field: "per_page", max: storefrontPage.max } }) as const;

/** What pages of the shop show: published reviews, photos, and questions. An unknown product has none. */
export const storefront = {
  settings: endpoint({
    summary: "Get the brand and the features of the shop for its pages",
    ...route("GET", `${path}/settings`),
    ...isPublicRead,
    output: () => ({ shop: shop() }),
  }),
  ratings: endpoint({
    summary: "Get the ratings of several products",
    ...route("GET", `${path}/ratings`),
    ...isPublicRead,
    input: () => ({ product_ids: oneOrMore(shape.id, maxRatedProducts) }),
    output: () => ({
      /** In the order of the call, without unknown products. */
      ratings: z.array(z.object({ product_id: z.string(), ...rating() })),
    }),
  }),
  reviews: endpoint({
    summary: "List the published reviews of a product, or of all products",
    listing: pagesOf("reviews"),
    ...route("GET", `${path}/products/{product_id}/reviews`, `${path}/reviews`),
    ...isPublicRead,
    input: () => ({
      product_id: shape.id.optional(),
      ...paging(),
      sort: storefrontSort(),
      stars: oneOrMore(score(), 5).optional(),
      with_photos: shape.boolean.optional(),
      /** Only reviews of verified buyers. */
      verified: shape.boolean.optional(),
      /** Searches title and content. */
      search: searchText().optional(),
      /** Only these reviews, in this order unless `sort` is given. */
      review_ids: oneOrMore(shape.rowId, maxChosenReviews).optional(),
    }),
    output: reviewPage,
  }),
  photos: endpoint({
    summary: "List the photos of a product's published reviews, newest first",
    listing: pagesOf("photos"),
    ...route("GET", `${path}/products/{product_id}/photos`),
    ...isPublicRead,
    input: () => ({ product_id: shape.id, ...paging() }),
    output: photoPage,
  }),
  questions: endpoint({
    summary: "List a product's public questions with their answers, newest first",
    listing: pagesOf("questions"),
    ...route("GET", `${path}/products/{product_id}/questions`),
    ...isPublicRead,
    input: () => ({ product_id: shape.id, ...paging() }),
    output: questionList,
  }),
  element: endpoint({
    summary: "Get the first page of an element as HTML",
    ...route("GET", `${path}/products/{product_id}/elements/{element}.json`, `${path}/elements/{element}.json`),
    htmlPaths: [`${path}/products/{product_id}/elements/{element}`, `${path}/elements/{element}`],
    ...isPublicRead,
    input: () => ({
      /** Without a product, a carousel has reviews of all products, and other elements are about the shop. */
      product_id: shape.id.optional(),
      element: z.enum(storefrontElements, { error: `must be one of ${storefrontElements.join(", ")}` }),
      per_page: shape.page.optional(),
      /** Default: that of the shop. */
      language: z.enum(languages, { error: `must be one of ${languages.join(", ")}` }).optional(),
      /** For `carousel`: only these reviews, in this order. */
      review_ids: oneOrMore(shape.rowId, maxChosenReviews).optional(),
    }),
    output: () => ({ html: z.string() }),
  }),
};
