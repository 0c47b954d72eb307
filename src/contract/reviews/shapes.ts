import * as z from "zod";
import { userSummary } from "../people.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { imageLimits } from "./images.ts";

/** The product ID for reviews of the store itself. Source: spec "Reviews". */
export const siteReviewsId = "service_site_reviews";

/** Page sizes of widgets and of the account's review list. Source: spec "Limits". Assumed: the maximums. */
export const reviewPage = { default: 10, max: 150 } as const;
export const reviewListPage = { default: 10, max: 1_000 } as const;

/** The largest page of reviews that every service supports. Source: spec "Limits". */
export const maxReviewsPerPage = 100;

/** Page sizes of the bottom lines of all products. Source: spec "Reviews", "Limits"; practice of services of this kind. */
export const bottomLinePage = { default: 10, max: 100 } as const;

/** The CDN rate limit: requests per window and app key. Source: spec "Limits". */
export const readRateLimit = { requests: 5_000, windowMs: 60_000 } as const;

/** The reviewer types that a trusted vendor may assign. Source: spec "Reviews". */
export const trustedReviewerTypes = ["verified_buyer", "verified_reviewer"] as const;

/** The types of reviewers. A reviewer is `anonymous` until their email address is verified. */
export const reviewerTypes = ["anonymous", ...trustedReviewerTypes] as const;
export type ReviewerType = (typeof reviewerTypes)[number];

/**
 * Which reviews are published and counted without a decision of the store. `verified`: those of verified buyers and
 * reviewers; `moderated`: none. Source: spec "States and transitions". Assumed: an account starts with `all`.
 */
export const publishedReviews = ["all", "verified", "moderated"] as const;
export type PublishedReviews = (typeof publishedReviews)[number];

/**
 * What prevents the publication of a review: `unpublished` by the store; `held` because of its text or number; `pending`
 * because of the account's setting.
 */
export const reviewStates = ["published", "unpublished", "held", "pending"] as const;
export type ReviewState = (typeof reviewStates)[number];

/** When reviews of visitors are held until the store publishes them. Links in names and titles always hold a review. */
export const reviewHolds = {
  /** Maximum number of links in the content of a review. */
  maxLinks: 2,
  /** Maximum number of anonymous reviews that a product, a group, or the store can get in 24 hours. */
  maxAnonymousPerDay: 100,
} as const;

/** Source: spec "Reviews": the allowed values of `sort`. */
export const reviewSorts = ["date", "votes_up", "votes_down", "time", "rating", "reviewer_type"] as const;
export type ReviewSort = (typeof reviewSorts)[number];

export const score = lazily(() =>
  z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d{1,2}$/)
          .transform(Number),
      ],
      {
        error: (issue) => (issue.input === undefined ? "is missing" : "must be an integer from 1 to 5"),
      },
    )
    .pipe(
      z
        .number()
        .int({ error: "must be an integer from 1 to 5" })
        .min(1, { error: "must be an integer from 1 to 5" })
        .max(5, { error: "must be an integer from 1 to 5" }),
    ),
);

const images = lazyObject(() => ({ id: z.number().int(), image_url: z.string(), big_image_url: z.string() }));
const socialLinks = lazyObject(() => ({
  facebook: z.string(),
  twitter: z.string(),
  linkedin: z.string(),
  google_oauth2: z.string(),
}));
export type SocialLinks = z.output<ReturnType<typeof socialLinks>>;

/** Source: spec "Review (full form)". */
export const fullReview = lazyObject(() => ({
  id: z.number().int(),
  content: z.string(),
  title: z.string(),
  score: z.number().int(),
  user: userSummary(),
  user_type: z.string(),
  users: z.array(userSummary()),
  products: z.array(
    z.object({
      /** Capitalized on the wire. */
      Location_idx: z.tuple([z.number().int(), z.number().int()]),
      Product: z.object({
        product_url: z.string(),
        id: z.number().int(),
        name: z.string(),
        slug: z.string(),
        shorten_url: z.string(),
        images: z.array(images()),
        social_network_links: socialLinks(),
        facebook_testemonials_page_product_url: z.string(),
      }),
    }),
  ),
  votes_up: z.number().int(),
  votes_down: z.number().int(),
  user_vote: z.number().int(),
  created_at: timestamp(),
  deleted: z.boolean(),
  new: z.boolean(),
  verified_buyer: z.boolean(),
  archived: z.boolean(),
  /** The author received a coupon for the review. Otherwise absent. */
  received_coupon: z.boolean().optional(),
  social_pushed: z.boolean(),
  facebook_pushed: z.number().int(),
  twitter_pushed: z.number().int(),
  account: z.object({
    id: z.number().int(),
    domain: z.string(),
    comments_display_name: z.string(),
    map_image: z.unknown().optional(),
    comments_avatar: z.unknown().optional(),
  }),
  products_apps: z.array(
    z.object({
      id: z.number().int(),
      product_url: z.string(),
      domain_key: z.string(),
      product: z.object({ id: z.number().int(), name: z.string() }),
    }),
  ),
}));
export type FullReview = z.output<ReturnType<typeof fullReview>>;

/** Source: spec "Review (account list form)". */
export const listedReview = lazyObject(() => ({
  id: z.number().int(),
  title: z.string(),
  content: z.string(),
  score: z.number().int(),
  votes_up: z.number().int(),
  votes_down: z.number().int(),
  created_at: timestamp(),
  /** Assumed: an addition to the specification, whose field for `since_updated_at` it is; other services may omit it. */
  updated_at: timestamp().optional(),
  sku: z.string(),
  name: z.string(),
  email: z.string(),
  reviewer_type: z.string(),
  deleted: z.boolean(),
  user_reference: z.string().nullable(),
  /** The author received a coupon for the review. Otherwise absent. */
  received_coupon: z.boolean().optional(),
  /** The following fields are present only with `details`, `state` also after publishing. Reviews of the store have no product. */
  published: z.boolean().optional(),
  state: z.enum(reviewStates).optional(),
  comment: z.string().nullish(),
  comment_created_at: timestamp().nullish(),
  /** The URLs of the review's images. */
  images: z.array(z.string()).optional(),
  /** Present if images were copied here: where each was imported from. */
  image_sources: z.array(z.string()).optional(),
  product_title: z.string().nullish(),
  product_url: z.string().nullish(),
  /** Present if the title was made from the content, because the author gave none. */
  untitled: z.boolean().optional(),
}));
export type ListedReview = z.output<ReturnType<typeof listedReview>>;

export const comment = lazyObject(() => ({
  id: z.number().int(),
  content: z.string(),
  created_at: timestamp(),
  comments_avatar: z.looseObject({}).nullable(),
}));

/** Source: spec "Review (widget form)". Assumed: `comment` is present if the store has commented. */
export const widgetReview = lazyObject(() => ({
  id: z.number().int(),
  score: z.number().int(),
  votes_up: z.number().int(),
  votes_down: z.number().int(),
  content: z.string(),
  title: z.string(),
  created_at: timestamp(),
  verified_buyer: z.boolean(),
  source_review_id: z.number().int().nullable(),
  custom_fields: z.looseObject({}).nullable(),
  /** The author received a coupon for the review. Otherwise absent. */
  received_coupon: z.boolean().optional(),
  product_id: z.number().int().optional(),
  images_data: z.array(z.object({ id: z.number().int(), thumb_url: z.string(), original_url: z.string() })).optional(),
  user: z.object({
    user_id: z.number().int(),
    display_name: z.string(),
    social_image: z.string().nullable(),
    user_type: z.string(),
    is_social_connected: z.number().int(),
  }),
  comment: comment().optional(),
}));
export type WidgetReview = z.output<ReturnType<typeof widgetReview>>;

export const starDistribution = lazyObject(() => ({
  1: z.number().int(),
  2: z.number().int(),
  3: z.number().int(),
  4: z.number().int(),
  5: z.number().int(),
}));

/** Source: spec "Widget response envelope". */
export const widgetPage = lazyObject(() => ({
  pagination: z.object({ page: z.number().int(), per_page: z.number().int(), total: z.number().int() }),
  bottomline: z.object({
    total_review: z.number().int(),
    average_score: z.number(),
    star_distribution: starDistribution(),
    custom_fields_bottomline: z.looseObject({}).nullable(),
  }),
  products: z.array(
    z.object({
      id: z.number().int(),
      domain_key: z.string(),
      name: z.string(),
      social_links: socialLinks(),
      embedded_widget_link: z.string(),
      testimonials_product_link: z.string(),
      product_link: z.string(),
    }),
  ),
  product_tags: z.array(z.string()),
  reviews: z.array(widgetReview()),
}));
export type WidgetPage = z.output<ReturnType<typeof widgetPage>>;

/** Source: spec "Top review". Assumed: `image` and `good_length` are 1 for yes and 0 for no. */
export const topReview = lazyObject(() => ({
  id: z.number().int(),
  product_id: z.number().int(),
  featured_image_id: z.number().int().nullable(),
  image: z.number().int(),
  good_length: z.number().int(),
  title: z.string(),
  content: z.string(),
  score: z.number().int(),
  created_at: timestamp(),
  product_url: z.string(),
  image_url: z.string().nullable(),
  /** Used only by the HTML page; JSON responses omit both. */
  product_name: z.string().optional(),
  display_name: z.string().optional(),
  /** The author received a coupon for the review. Otherwise absent. */
  received_coupon: z.boolean().optional(),
}));
export type TopReview = z.output<ReturnType<typeof topReview>>;

/** The history of a review that was written elsewhere, as reported by the store. */
export const pastReview = lazyObject(() => ({
  created_at: shape.time,
  /** Default: true. */
  published: shape.boolean.optional(),
  /** The store's comment. */
  comment: shape.content.nullish(),
  /** Default: the time of the review. */
  comment_created_at: shape.time.nullish(),
  /** URLs of the author's images, which are stored as they are and never fetched. */
  images: z
    .array(shape.url, { error: "must be a list of URLs" })
    .max(imageLimits.perPastReview, { error: `has more than ${imageLimits.perPastReview} URLs` })
    .nullish(),
  /** Default: `anonymous`. */
  reviewer_type: z.enum(reviewerTypes, { error: `must be one of ${reviewerTypes.join(", ")}` }).optional(),
  /** Whether the title was made from the content, because the author gave none. Default: false. */
  untitled: shape.boolean.optional(),
}));
export type PastReview = z.output<ReturnType<typeof pastReview>>;
