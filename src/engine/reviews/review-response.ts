import {
  extensionPrefix,
  type FullReview,
  type ListedReview,
  type Photo,
  siteReviewsId,
  type SocialLinks,
  type WidgetReview,
} from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import type { AccountProfile } from "../accounts/account-profile.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { seoPageUrl, toSlug } from "../kernel/slug.ts";
import { stateOf } from "./review-index.ts";
import { type Person, publicName, toSummary } from "../accounts/shoppers.ts";
import { iso } from "../kernel/times.ts";
import type { FoundProduct } from "../products/product-lookup.ts";

type Review = Row<"reviews">;

/** States that the author of a review received a coupon for it. */
export function showCoupon({ received_coupon }: Pick<Review, "received_coupon">) {
  return received_coupon === 1 && ({ received_coupon: true } as const);
}

/** A review with its author and product. */
export interface ReviewParts {
  readonly review: Review;
  readonly author: Person & Pick<Row<"users">, "email">;
  /** Absent for a review of the store. */
  readonly product?: FoundProduct | undefined;
}

/** An image of a review, without its data. The URL is null if it is stored here: see `linkedUrl`. */
export interface ReviewImage extends Pick<
  Row<"review_images">,
  "id" | "review_row" | "url" | "width" | "height" | "color"
> {
  /** Where an image was imported from, also after it was copied. */
  readonly source_url?: string | null;
}

/** The URLs of a review's image and its thumbnail. The image of a past review has only one. */
export function formatImageUrls({ id, url }: Pick<ReviewImage, "id" | "url">, publicUrl: string) {
  if (url !== null) return { thumb_url: url, original_url: url };
  const original_url = `${publicUrl}${extensionPrefix}/images/${id}`;
  return { thumb_url: `${original_url}?size=thumb`, original_url };
}

/**
 * An image of a review in its sizes. The dimensions and the color of an image that is only a URL are not known, nor those of
 * a photo that the worker has not converted yet, or cannot.
 */
export function formatPhoto({ id, url, width, height, color }: ReviewImage, publicUrl: string): Photo {
  const urlOf = (size: string) => `${publicUrl}${extensionPrefix}/images/${id}?size=${size}`;
  const sizes = url === null ? { "160": urlOf("160"), "480": urlOf("480"), "1200": urlOf("1200") } : { "1200": url };
  return { id, width: width || null, height: height || null, color, sizes };
}

/** The `user_type` of an unverified reviewer. */
export const anonymousType = "Anonymous";

/** Assumed: a reviewer is "Anonymous" until their email address is verified or a trusted vendor vouches for them. */
export function userTypeOf({ reviewer_type }: Pick<Review, "reviewer_type">): string {
  return reviewer_type === "anonymous" ? anonymousType : "User";
}

/** Assumed: the social links of a product share its review page. */
export function toSocialLinks(url: string): SocialLinks {
  return { facebook: url, twitter: url, linkedin: url, google_oauth2: url };
}

/** Where a review's links lead. Without an app key, links lead to the product's own page instead of its review page. */
type LinkContext = Pick<HandlerContext, "publicUrl"> & { readonly appKey?: string | undefined };

/**
 * Source: spec "Review (full form)".
 * Assumed: `deleted` means not published; a review is `new` until its author is verified or the store comments;
 * `archived`, the `pushed` fields, and `users` are always empty, because no operation sets them.
 */
export function toFullReview(
  { review, author, product }: ReviewParts,
  account: AccountProfile,
  context: LinkContext,
): FullReview {
  return {
    id: review.id,
    content: review.content,
    title: review.title,
    score: review.score,
    user: toSummary(author),
    user_type: userTypeOf(review),
    users: [],
    products: product ? [{ Location_idx: [0, 0], Product: toReviewedProduct(product, context) }] : [],
    votes_up: review.votes_up,
    votes_down: review.votes_down,
    user_vote: 0,
    created_at: iso(review.created_at),
    deleted: review.published === 0,
    new: isNew(review),
    verified_buyer: review.reviewer_type === "verified_buyer",
    archived: false,
    social_pushed: false,
    facebook_pushed: 0,
    twitter_pushed: 0,
    ...showCoupon(review),
    account: { id: account.id, domain: account.domain, comments_display_name: account.displayName },
    products_apps: product
      ? [
          {
            id: product.id,
            product_url: product.url,
            domain_key: product.product_id,
            product: { id: product.id, name: product.name },
          },
        ]
      : [],
  };
}

function isNew({ reviewer_type, comment }: Pick<Review, "reviewer_type" | "comment">): boolean {
  return reviewer_type === "anonymous" && comment === null;
}

function toReviewedProduct(
  { id, product_id, name, url, image_url }: NonNullable<ReviewParts["product"]>,
  { publicUrl, appKey }: LinkContext,
): FullReview["products"][number]["Product"] {
  const page = appKey === undefined ? url : seoPageUrl({ publicUrl, appKey, productId: product_id });
  return {
    product_url: url,
    id,
    name,
    slug: toSlug(name),
    shorten_url: url,
    images: image_url ? [{ id, image_url, big_image_url: image_url }] : [],
    social_network_links: toSocialLinks(page),
    facebook_testemonials_page_product_url: page,
  };
}

/** Source: spec "Review (account list form)". */
export function toListedReview({ review, author, product }: ReviewParts): ListedReview {
  return {
    id: review.id,
    title: review.title,
    content: review.content,
    score: review.score,
    votes_up: review.votes_up,
    votes_down: review.votes_down,
    created_at: iso(review.created_at),
    updated_at: iso(review.updated_at),
    sku: product?.product_id ?? siteReviewsId,
    name: author.display_name,
    email: author.email,
    reviewer_type: review.reviewer_type,
    deleted: review.published === 0,
    user_reference: review.user_reference,
    ...showCoupon(review),
  };
}

/** Like `toListedReview`, with the fields that `details` adds. */
export function toDetailedReview(parts: ReviewParts, images: readonly ReviewImage[], publicUrl: string): ListedReview {
  const { review, product } = parts;
  const urls = images.map((image) => formatImageUrls(image, publicUrl).original_url);
  const isCopied = images.some(({ url, source_url }) => url === null && source_url);
  return {
    ...toListedReview(parts),
    published: review.published === 1,
    state: stateOf(review),
    comment: review.comment,
    comment_created_at: review.comment_at === null ? null : iso(review.comment_at),
    images: urls,
    ...(isCopied && { image_sources: images.map(({ source_url }, nth) => source_url ?? urls[nth] ?? "") }),
    product_title: product?.name ?? null,
    product_url: product?.url ?? null,
    ...(review.untitled === 1 && { untitled: true }),
  };
}

/** A review as selected for a widget, with columns of its author. */
export type WidgetRow = Pick<
  Review,
  | "id"
  | "product_row"
  | "score"
  | "votes_up"
  | "votes_down"
  | "content"
  | "title"
  | "created_at"
  | "reviewer_type"
  | "comment"
  | "comment_at"
  | "images"
  | "received_coupon"
> & {
  readonly user_id: number;
  readonly display_name: string;
  readonly kind: string;
  readonly social_image: string | null;
};

/**
 * Source: spec "Review (widget form)".
 * Assumed: a review of the store has no `product_id`; a comment has the ID of its review.
 */
export function toWidgetReview(row: WidgetRow, images: readonly ReviewImage[], publicUrl: string): WidgetReview {
  return {
    id: row.id,
    score: row.score,
    votes_up: row.votes_up,
    votes_down: row.votes_down,
    content: row.content,
    title: row.title,
    created_at: iso(row.created_at),
    verified_buyer: row.reviewer_type === "verified_buyer",
    source_review_id: null,
    custom_fields: null,
    ...showCoupon(row),
    ...(row.product_row !== null && { product_id: row.product_row }),
    images_data: images.map((image) => ({ id: image.id, ...formatImageUrls(image, publicUrl) })),
    user: {
      user_id: row.user_id,
      display_name: publicName(row),
      social_image: row.social_image,
      user_type: userTypeOf(row),
      is_social_connected: 0,
    },
    ...(row.comment !== null && {
      comment: {
        id: row.id,
        content: row.comment,
        created_at: iso(row.comment_at ?? row.created_at),
        comments_avatar: null,
      },
    }),
  };
}

/**
 * Builds the data of a webhook event. Source: practice of services of this kind.
 * Assumed: beyond that practice, it includes the product's name and URL, and the author's full name; nothing is archived.
 * @param orderId the store's ID for the order that the review belongs to, if known
 */
export function toEventData(
  { review, author, product }: ReviewParts,
  { appKey, orderId }: { readonly appKey: string; readonly orderId: string | null },
): Record<string, unknown> {
  return {
    id: review.id,
    title: review.title,
    content: review.content,
    score: review.score,
    user_type: userTypeOf(review),
    verified_buyer: review.reviewer_type === "verified_buyer",
    votes_up: review.votes_up,
    votes_down: review.votes_down,
    created_at: iso(review.created_at),
    updated_at: iso(review.updated_at),
    deleted: review.published === 0,
    archived: false,
    new: isNew(review),
    app_key: appKey,
    sku: product?.product_id ?? siteReviewsId,
    product_title: product?.name ?? null,
    product_url: product?.url ?? null,
    customer_name: author.display_name,
    customer_email: author.email,
    order_id: orderId,
    ...showCoupon(review),
  };
}
