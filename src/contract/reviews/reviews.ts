import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { userSummary, voteAnswer, voteType } from "../people.ts";
import { bare, enveloped, flat, statusWith, withoutInside } from "../reply.ts";
import { detailsQuery, isLegalId, shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { hourMs } from "../time.ts";

/** The product id under which reviews of the store itself are kept. Source: spec "Reviews". */
export const siteReviewsId = "service_site_reviews";

/** Reviews on a page where the call does not say, and at most. Source: spec "Limits". Assumed: at most 150, and 1,000 of the account's list. */
export const reviewPage = { default: 10, max: 150 } as const;
export const reviewListPage = { default: 10, max: 1_000 } as const;

/** Reviews on a page that every service gives. Source: spec "Limits". */
export const reviewsAPage = 100;

/** Products on a page of bottom lines. Source: spec "Reviews", "Limits"; practice of services of this kind. */
export const bottomLinePage = { default: 10, max: 100 } as const;

/** Requests per app key to the read address. Source: spec "Limits". */
export const readRateLimit = { requests: 5_000, windowMs: 60_000 } as const;

/** How late the bottom lines of all products are. Source: spec "Limits". */
export const bottomLinesDelayMs = hourMs;

/** What a trusted vendor may say of a reviewer. Source: spec "Reviews". */
export const trustedReviewerTypes = ["verified_buyer", "verified_reviewer"] as const;

/** What is known of who wrote a review; `anonymous` until the address is verified. */
export const reviewerTypes = ["anonymous", ...trustedReviewerTypes] as const;
export type ReviewerType = (typeof reviewerTypes)[number];

/** Source: spec "Reviews": the allowed values of `sort`. */
export const reviewSorts = ["date", "votes_up", "votes_down", "time", "rating", "reviewer_type"] as const;
export type ReviewSort = (typeof reviewSorts)[number];

const score = lazily(() =>
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
        error: (issue) => (issue.input === undefined ? "is missing" : "must be a whole number from 1 to 5"),
      },
    )
    .pipe(
      z
        .number()
        .int({ error: "must be a whole number from 1 to 5" })
        .min(1, { error: "must be a whole number from 1 to 5" })
        .max(5, { error: "must be a whole number from 1 to 5" }),
    ),
);

const images = lazily(() =>
  z.object({ id: z.number().int(), image_url: z.string(), big_image_url: z.string() }),
);
const socialLinks = lazily(() =>
  z.object({
    facebook: z.string(),
    twitter: z.string(),
    linkedin: z.string(),
    google_oauth2: z.string(),
  }),
);
export type SocialLinks = z.output<ReturnType<typeof socialLinks>>;

/** Source: spec "Review (full form)". */
export const fullReview = lazily(() =>
  z.object({
    id: z.number().int(),
    content: z.string(),
    title: z.string(),
    score: z.number().int(),
    user: userSummary(),
    user_type: z.string(),
    users: z.array(userSummary()),
    products: z.array(
      z.object({
        /** Spelled so on the wire. */
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
  }),
);
export type FullReview = z.output<ReturnType<typeof fullReview>>;

/** Source: spec "Review (account list form)". */
export const listedReview = lazily(() =>
  z.object({
    id: z.number().int(),
    title: z.string(),
    content: z.string(),
    score: z.number().int(),
    votes_up: z.number().int(),
    votes_down: z.number().int(),
    created_at: timestamp(),
    sku: z.string(),
    name: z.string(),
    email: z.string(),
    reviewer_type: z.string(),
    deleted: z.boolean(),
    user_reference: z.string().nullable(),
    /** From here on only with `details`; of the store itself a review has no product. */
    published: z.boolean().optional(),
    comment: z.string().nullish(),
    product_title: z.string().nullish(),
    product_url: z.string().nullish(),
  }),
);
export type ListedReview = z.output<ReturnType<typeof listedReview>>;

const comment = lazily(() =>
  z.object({
    id: z.number().int(),
    content: z.string(),
    created_at: timestamp(),
    comments_avatar: z.looseObject({}).nullable(),
  }),
);

/** Source: spec "Review (widget form)". Assumed: `comment` is there where the store has commented. */
export const widgetReview = lazily(() =>
  z.object({
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
    product_id: z.number().int().optional(),
    images_data: z
      .array(z.object({ id: z.number().int(), thumb_url: z.string(), original_url: z.string() }))
      .optional(),
    user: z.object({
      user_id: z.number().int(),
      display_name: z.string(),
      social_image: z.string().nullable(),
      user_type: z.string(),
      is_social_connected: z.number().int(),
    }),
    comment: comment().optional(),
  }),
);
export type WidgetReview = z.output<ReturnType<typeof widgetReview>>;

const starDistribution = lazily(() =>
  z.object({
    1: z.number().int(),
    2: z.number().int(),
    3: z.number().int(),
    4: z.number().int(),
    5: z.number().int(),
  }),
);

/** Source: spec "Widget response envelope". */
export const widgetPage = lazily(() =>
  z.object({
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
  }),
);
export type WidgetPage = z.output<ReturnType<typeof widgetPage>>;

/** Source: spec "Bottom lines". */
const bottomLineItem = lazily(() =>
  z.object({
    domain_key: z.string(),
    product_score: z.number(),
    total_reviews: z.number().int(),
  }),
);

/** Source: spec "Top review". Assumed: `image` and `good_length` are 1 for yes and 0 for no. */
export const topReview = lazily(() =>
  z.object({
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
    /** For the page alone: the form of the wire has neither. */
    product_name: z.string().optional(),
    display_name: z.string().optional(),
  }),
);
export type TopReview = z.output<ReturnType<typeof topReview>>;

/** What both ways to create a review take. Source: spec "Reviews". Assumed: both take `user_reference`. */
const newReview = lazily(() => ({
  sku: shape.id.pipe(z.string().refine(isLegalId, { error: "allows only letters, digits, _ and -" })),
  product_title: shape.name,
  display_name: shape.name,
  email: shape.email,
  review_content: shape.content,
  review_title: shape.name,
  review_score: score(),
  domain: shape.reference.nullish(),
  product_description: shape.text.nullish(),
  product_image_url: shape.optionalUrl.nullish(),
  signature: shape.reference.nullish(),
  time_stamp: shape.reference.nullish(),
  reviewer_type: shape.reference.nullish(),
  /** The store's own id of the author. */
  user_reference: shape.reference.nullish(),
}));

/** A review of the past, as the store that has it knows it. */
export const pastReview = lazily(() =>
  z.object({
    created_at: shape.time,
    /** True where absent. */
    published: shape.boolean.optional(),
    /** The store's comment on it. */
    comment: shape.content.nullish(),
    /** What is known of its author; `anonymous` where absent. */
    reviewer_type: z.enum(reviewerTypes, { error: `must be one of ${reviewerTypes.join(", ")}` }).optional(),
  }),
);
export type PastReview = z.output<ReturnType<typeof pastReview>>;

/** In any case of letters. */
const direction = lazily(() =>
  z
    .string({ error: "must be ASC or DESC" })
    .transform((value) => value.toUpperCase())
    .pipe(z.enum(["ASC", "DESC"], { error: "must be ASC or DESC" })),
);

const sort = lazily(() =>
  z
    .union([z.string().transform((one) => [one]), z.array(z.string())], { error: "must be a list of names" })
    .pipe(
      z
        .array(z.enum(reviewSorts, { error: `must be one of ${reviewSorts.join(", ")}` }))
        .max(reviewSorts.length),
    ),
);

const widgetQuery = lazily(() => ({
  per_page: shape.count.optional(),
  page: shape.count.optional(),
  star: score().optional(),
  sort: sort().optional(),
  direction: direction().optional(),
}));

const listQuery = lazily(() => ({
  since_id: shape.count.optional(),
  since_date: shape.date.optional(),
  since_updated_at: shape.date.optional(),
  count: shape.count.optional(),
  page: shape.count.optional(),
}));

const reviewIdInput = lazily(() => ({ review_id: shape.rowId }));

/** One step in a review's life. Shown to the store alone. */
const reviewEvent = lazily(() =>
  z.object({
    id: z.number().int(),
    review_id: z.number().int(),
    event: z.string(),
    by: z.string(),
    reason: z.string().nullable(),
    created_at: timestamp(),
  }),
);

export const reviews = {
  create: endpoint({
    summary: "Create a review; its author gets a verification mail",
    method: "POST",
    paths: ["/v1/widget/reviews"],
    auth: "account",
    effect: "once",
    input: () => z.object({ ...newReview(), product_url: shape.url }).loose(),
    output: () => z.object({ image_upload_token: z.string() }),
    reply: flat,
  }),
  createNow: endpoint({
    summary: "Create a review and read it back (for development)",
    method: "POST",
    paths: ["/reviews/dynamic_create"],
    auth: "account",
    effect: "once",
    input: () =>
      z
        .object({
          ...newReview(),
          product_url: shape.optionalUrl.nullish(),
          /**
           * Assumed: an addition to the specification, heeded where the call comes with a utoken of the account: anybody
           * may create a review, and only the store may say when it was written. A service that does not know it passes
           * over it.
           */
          past: pastReview().optional(),
        })
        .loose(),
    acceptsUtoken: true,
    output: () => z.object({ reviews: z.array(fullReview()) }),
    reply: enveloped,
  }),
  listByUser: endpoint({
    summary: "List reviews by the store's own reference of their author",
    listing: { items: "reviews", by: "since_id", size: { field: "count", max: reviewsAPage } },
    method: "GET",
    paths: ["/products/{app_key}/service_global_reviews/reviews.json"],
    auth: "account",
    effect: "read",
    input: () => z.object({ user_reference: shape.reference.optional(), ...listQuery() }),
    output: () => z.object({ reviews: z.array(fullReview()), total_reviews: z.number().int() }),
    reply: enveloped,
  }),
  list: endpoint({
    summary: "List the account's reviews",
    listing: { items: "reviews", by: "since_id", size: { field: "count", max: reviewsAPage } },
    method: "GET",
    paths: ["/v1/apps/{app_key}/reviews"],
    auth: "utoken",
    effect: "read",
    input: () =>
      z.object({
        ...listQuery(),
        deleted: shape.boolean.optional(),
        user_reference: shape.reference.optional(),
        ...detailsQuery(),
      }),
    output: () => z.object({ reviews: z.array(listedReview()) }),
    reply: bare,
  }),
  bottomLines: endpoint({
    summary: "Read review count and average score of all products",
    listing: {
      items: "bottomlines",
      by: "page",
      mayBeAbsent: true,
      size: { field: "count", max: bottomLinePage.max },
    },
    method: "GET",
    paths: ["/v1/apps/{app_key}/bottom_lines", "/apps/{app_key}/bottom_lines"],
    auth: "account",
    effect: "read",
    input: () =>
      z.object({
        count: shape.count.optional(),
        page: shape.count.optional(),
        since_id: shape.count.optional(),
        since_date: shape.date.optional(),
      }),
    output: () =>
      z.object({
        bottomlines: z.array(bottomLineItem()).optional(),
        page: z.string().optional(),
        per_page: z.string().optional(),
      }),
    reply: enveloped,
    hasCallback: true,
    isReadLimited: true,
  }),
  bottomLine: endpoint({
    summary: "Read review count and average score of one product",
    method: "GET",
    paths: ["/products/{app_key}/{product_id}/bottomline"],
    auth: "account",
    effect: "read",
    input: () => z.object({ product_id: shape.id }),
    output: () =>
      z.object({
        bottomline: z.object({ average_score: z.number(), total_reviews: z.number().int() }),
      }),
    reply: enveloped,
    hasCallback: true,
  }),
  widget: endpoint({
    summary: "Read a product's reviews as its page shows them",
    listing: { items: "reviews", by: "page", size: { field: "per_page", max: reviewPage.max } },
    method: "GET",
    paths: ["/v1/widget/{app_key}/products/{product_id}/reviews.json"],
    auth: "account",
    effect: "read",
    input: () =>
      z.object({
        product_id: shape.legalId,
        ...widgetQuery(),
      }),
    output: () => widgetPage(),
    reply: enveloped,
  }),
  siteWidget: endpoint({
    summary: "Read the reviews of the store itself",
    listing: { items: "reviews", by: "page", size: { field: "per_page", max: reviewPage.max } },
    method: "GET",
    paths: [`/v1/widget/{app_key}/products/${siteReviewsId}/reviews.json`],
    auth: "account",
    effect: "read",
    input: () =>
      z.object({
        ...widgetQuery(),
      }),
    output: () => widgetPage(),
    reply: enveloped,
  }),
  vote: endpoint({
    summary: "Vote on a review",
    method: "GET",
    paths: ["/reviews/{review_id}/vote/{vote_type}", "/reviews/{review_id}/vote/{vote_type}.json"],
    auth: "open",
    effect: "once",
    input: () => z.object({ ...reviewIdInput(), vote_type: voteType() }),
    output: () => voteAnswer(),
    reply: enveloped,
  }),
  get: endpoint({
    summary: "Read one review",
    method: "GET",
    paths: ["/reviews/{review_id}", "/reviews/{review_id}.json"],
    auth: "open",
    effect: "read",
    input: () => z.object(reviewIdInput()),
    output: () => z.object({ review: fullReview() }),
    reply: enveloped,
  }),
  top: endpoint({
    summary: "Read the three latest 5-star reviews",
    listing: { items: "reviews" },
    method: "GET",
    paths: ["/apps/{app_key}/top_reviews.json"],
    htmlPaths: ["/apps/{app_key}/top_reviews.html"],
    auth: "account",
    effect: "read",
    input: () => z.object({}),
    output: () => z.object({ reviews: z.array(topReview()) }),
    reply: withoutInside(statusWith, "reviews", ["product_name", "display_name"]),
  }),
  comment: endpoint({
    summary: "Comment on a review as the store",
    method: "POST",
    paths: [`${extensionPrefix}/apps/{app_key}/reviews/{review_id}/comment`],
    extension: "own",
    auth: "utoken",
    effect: "repeatable",
    input: () => z.object({ ...reviewIdInput(), content: shape.content }),
    output: () => z.object({ comment: comment() }),
    reply: enveloped,
  }),
  setPublished: endpoint({
    summary: "Publish a review, or take it off the pages, with a reason",
    method: "PUT",
    paths: [`${extensionPrefix}/apps/{app_key}/reviews/{review_id}/publication`],
    extension: "own",
    auth: "utoken",
    effect: "repeatable",
    input: () =>
      z.object({
        ...reviewIdInput(),
        published: shape.boolean,
        reason: shape.content,
        by: shape.name.optional(),
      }),
    output: () => z.object({ review: listedReview() }),
    reply: enveloped,
  }),
  history: endpoint({
    summary: "Read who published or took off a review, when and why",
    listing: { items: "events" },
    method: "GET",
    paths: [`${extensionPrefix}/apps/{app_key}/reviews/{review_id}/history`],
    extension: "own",
    auth: "utoken",
    effect: "read",
    input: () => z.object(reviewIdInput()),
    output: () => z.object({ events: z.array(reviewEvent()) }),
    reply: enveloped,
  }),
};
