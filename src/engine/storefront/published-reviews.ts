import { sql } from "kysely";
import type * as z from "zod";
import type { contract, StorefrontPhotos, StorefrontReview, StorefrontReviews } from "../../contract/index.ts";
import { publicName } from "../accounts/shoppers.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import type { FoundProduct } from "../products/product-lookup.ts";
import { openProductView } from "../products/product-view.ts";
import { linkedUrl } from "../reviews/photo-storage.ts";
import { findImages, findReviews, showProducts, showsPhotosOf } from "../reviews/review-parts.ts";
import {
  anonymousType,
  formatPhoto,
  type ReviewImage,
  type ReviewParts,
  showCoupon,
  userTypeOf,
} from "../reviews/review-response.ts";
import { averageScore, type Stars, sumStars } from "../reviews/star-totals.ts";
import { allOf, findMatches, findPublished, hasPhotos, toPaging } from "./review-selection.ts";

/**
 * Lists a page of the published reviews of a product, of the shop, or of all products.
 * @throws ServiceError as `findMatches`
 */
export async function listReviews(
  query: z.output<typeof contract.storefront.reviews.input>,
  context: HandlerContext,
): Promise<StorefrontReviews> {
  const { product_id } = query;
  const published = await findPublished(product_id, context);
  const { counted, total, ids } = await findMatches(query, published, context);
  const found = await showProducts(await findReviews(ids, context), accountOf(context).id, context);
  const reviews = found.map(({ review }) => review);
  const images = await findImages(reviews.filter(showsPhotosOf), context);
  return {
    product: published.product ? await showProduct(published.product, context) : null,
    rating: { ...toRating(published.stars), star_distribution: toDistribution(published.stars) },
    matching: { total_reviews: total, star_distribution: toDistribution(counted) },
    pagination: { ...toPaging(query), total },
    reviews: found.map((parts) => toReview(parts, images.get(parts.review.id) ?? [], { product_id, context })),
  };
}

function toRating(stars: Stars) {
  const sums = sumStars(stars);
  return { average_score: averageScore(sums), total_reviews: sums.reviews };
}

function toDistribution([one, two, three, four, five]: Stars) {
  return { 1: one, 2: two, 3: three, 4: four, 5: five };
}

async function showProduct(product: FoundProduct, context: HandlerContext) {
  const { show } = await openProductView([product], accountOf(context).id, context);
  return toProduct(show(product));
}

function toProduct({ product_id, name, url, image_url }: FoundProduct) {
  return { product_id, name, url, image_url };
}

function toReview(
  { review, author, product }: ReviewParts,
  images: readonly ReviewImage[],
  { product_id, context }: { readonly product_id: string | undefined; readonly context: HandlerContext },
): StorefrontReview {
  return {
    ...toReviewFields({ review, author }),
    anonymous: userTypeOf(review) === anonymousType,
    votes_up: review.votes_up,
    votes_down: review.votes_down,
    ...showCoupon(review),
    comment:
      review.comment === null
        ? null
        : { content: review.comment, created_at: iso(review.comment_at ?? review.created_at) },
    photos: images.map((image) => formatPhoto(image, context.publicUrl)),
    ...(product && product.product_id !== product_id && { product: toProduct(product) }),
  };
}

function toReviewFields({ review, author }: ReviewParts) {
  return {
    id: review.id,
    score: review.score,
    title: review.title,
    content: review.content,
    created_at: iso(review.created_at),
    display_name: publicName(author),
    verified_buyer: review.reviewer_type === "verified_buyer",
  };
}

/** Lists a page of the photos of a product's published reviews; those of the latest review come first. */
export async function listPhotos(
  { product_id, ...query }: z.output<typeof contract.storefront.photos.input>,
  context: HandlerContext,
): Promise<StorefrontPhotos> {
  const paging = toPaging(query);
  const { condition } = await findPublished(product_id, context);
  if (!condition) return { pagination: { ...paging, total: 0 }, photos: [] };
  const withPhotos = sql`reviews.account_id = ${accountOf(context).id} and ${allOf([condition, hasPhotos])}`;
  const counted = await sql<{ total: number | null }>`
    select sum(reviews.images) as total from reviews where ${withPhotos}`.execute(context.transaction);
  const { rows } = await sql<ReviewImage>`
    select review_images.id, review_images.review_row, review_images.width, review_images.height, review_images.color,
      ${linkedUrl} as url from reviews
    cross join review_images
    where ${withPhotos} and review_images.account_id = ${accountOf(context).id}
      and review_images.review_row = reviews.id
    order by reviews.created_at desc, reviews.id desc, review_images.id
    limit ${paging.per_page} offset ${(paging.page - 1) * paging.per_page}`.execute(context.transaction);
  const found = await findReviews([...new Set(rows.map(({ review_row }) => review_row))], context);
  const byId = new Map(found.map((parts) => [parts.review.id, toReviewFields(parts)]));
  return {
    pagination: { ...paging, total: counted.rows[0]?.total ?? 0 },
    photos: rows.flatMap((image) => {
      const review = byId.get(image.review_row);
      return review ? [{ ...formatPhoto(image, context.publicUrl), review }] : [];
    }),
  };
}
