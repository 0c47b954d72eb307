import { type RawBuilder, sql } from "kysely";
import type * as z from "zod";
import {
  type contract,
  invalidField,
  searchPage,
  siteReviewsId,
  storefrontPage,
  type StorefrontPhotos,
  type StorefrontReview,
  type StorefrontReviews,
  type StorefrontSort,
} from "../../contract/index.ts";
import { listPhrases, listWords } from "../../storage/search-index.ts";
import { publicName } from "../accounts/shoppers.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type Condition, findPage } from "../kernel/lists/filtered-list.ts";
import { iso } from "../kernel/times.ts";
import type { FoundProduct } from "../products/product-lookup.ts";
import { openProductView } from "../products/product-view.ts";
import { accountTarget, siteTarget, targetOfProduct } from "../reviews/rating-targets.ts";
import { findImages, findReviews, showProducts, showsPhotos, showsPhotosOf } from "../reviews/review-parts.ts";
import { linkedUrl } from "../reviews/photo-storage.ts";
import { anonymousType, formatPhoto, type ReviewImage, type ReviewParts } from "../reviews/review-response.ts";
import { showCoupon, userTypeOf } from "../reviews/review-response.ts";
import { averageScore, noStars, readStars, type Stars, sumStars } from "../reviews/star-totals.ts";

type Query = z.output<typeof contract.storefront.reviews.input>;
type Paging = Pick<Query, "page" | "per_page">;

/** What a page of the shop shows the reviews of. */
interface Shown {
  readonly product: FoundProduct | undefined;
  /** The condition that an index answers; undefined for an unknown product. */
  readonly isShown: Condition | undefined;
  readonly stars: Stars;
}

export function toPaging({ page = 1, per_page = storefrontPage.default }: Paging) {
  return { page, per_page: Math.min(per_page, storefrontPage.max) };
}

/**
 * Lists a page of the published reviews of a product (or of its group), of the shop, or of all products.
 * Assumed: a page beyond the last one is empty; ties are broken by time, then ID.
 * @throws ServiceError `invalidParams` for the most helpful reviews of all products, which no index lists
 */
export async function listReviews(query: Query, context: HandlerContext): Promise<StorefrontReviews> {
  const { product_id, stars, sort } = query;
  if (sort === "most_helpful" && product_id === undefined && query.review_ids === undefined) {
    throw invalidField("sort", "most_helpful is available only for the reviews of a product");
  }
  const paging = toPaging(query);
  const shown = await findShown(product_id, context);
  const filters = await listFilters(query, shown, context);
  const counted = filters.length === 0 ? shown.stars : await countStars(shown, filters, context);
  const total = sumStars(stars ? counted.map((count, at) => (stars.includes(at + 1) ? count : 0)) : counted).reviews;
  const select = { sort: sort ?? "newest", total, filters: [...filters, ...starFilter(stars)] };
  const ids = await selectPage(shown, { ...paging, ...select }, context);
  const found = await showProducts(await findReviews(ids, context), accountOf(context).id, context);
  const images = await findImages(
    found.map(({ review }) => review),
    context,
  );
  return {
    product: shown.product ? await showProduct(shown.product, context) : null,
    rating: { ...toRating(shown.stars), star_distribution: toDistribution(shown.stars) },
    matching: { total_reviews: total, star_distribution: toDistribution(counted) },
    pagination: { ...paging, total },
    reviews: found.map((parts) => toReview(parts, images.get(parts.review.id) ?? [], { product_id, context })),
  };
}

async function findShown(productId: string | undefined, context: HandlerContext): Promise<Shown> {
  const { id: accountId } = accountOf(context);
  const isPublished = sql`reviews.published = 1`;
  if (productId === undefined) {
    const all = await readStars({ accountId, target: accountTarget(accountId) }, context);
    const ofSite = await readStars({ accountId, target: siteTarget(accountId) }, context);
    const stars = all.map((count, at) => count - (ofSite[at] ?? 0)) as unknown as Stars;
    return { product: undefined, isShown: sql`${isPublished} and reviews.product_row is not null`, stars };
  }
  const found = productId === siteReviewsId ? undefined : await findTarget(productId, context);
  const target = found?.target ?? (productId === siteReviewsId ? siteTarget(accountId) : undefined);
  if (target === undefined) return { product: undefined, isShown: undefined, stars: noStars };
  const stars = await readStars({ accountId, target }, context);
  return { product: found, isShown: sql`${isPublished} and reviews.rating_target = ${target}`, stars };
}

/** Finds a product, and the rating target of its reviews. */
async function findTarget(productId: string, context: HandlerContext) {
  const { id: accountId } = accountOf(context);
  return selectAccountRows("products", accountId, context.transaction)
    .select(["id", "product_id", "name", "url", "image_url", "named_by_visitor"])
    .select(targetOfProduct({ accountId: sql`${accountId}`, productId: sql`${productId}` }).as("target"))
    .where("product_id", "=", productId)
    .executeTakeFirst();
}

/** The conditions of all filters but the stars. */
async function listFilters(query: Query, shown: Shown, context: HandlerContext): Promise<readonly Condition[]> {
  const { with_photos, verified, review_ids, search } = query;
  const filters: Condition[] = [];
  if (with_photos === true) filters.push(hasPhotos);
  if (verified === true) filters.push(sql`reviews.reviewer_type = 'verified_buyer'`);
  if (review_ids) filters.push(isOneOf(review_ids));
  if (search !== undefined && shown.isShown) {
    filters.push(isOneOf(await searchReviews(search, shown.isShown, filters, context)));
  }
  return filters;
}

const hasPhotos: Condition = sql`(reviews.images > 0 and ${showsPhotos})`;

function isOneOf(ids: readonly number[]): Condition {
  return ids.length === 0 ? sql`1 = 0` : sql`reviews.id in (${sql.join(ids)})`;
}

function starFilter(stars: readonly number[] | undefined): readonly Condition[] {
  return stars && stars.length > 0 ? [sql`reviews.score in (${sql.join(stars)})`] : [];
}

/**
 * Finds the latest reviews whose title and content contain what a shopper searches for, at most `searchPage.max`.
 * The index also contains the full names of authors, which nobody must find out by searching.
 */
async function searchReviews(
  search: string,
  isShown: Condition,
  conditions: readonly Condition[],
  context: HandlerContext,
): Promise<readonly number[]> {
  const list = { table: "reviews", words: "review_words", isFew: false, isNarrow: true } as const;
  const query = { search, limit: searchPage.max };
  const { ids } = await findPage({ ...list, parts: [isShown], conditions, tags: [] }, query, context);
  if (ids.length === 0) return [];
  const texts = await selectAccountRows("reviews", accountOf(context).id, context.transaction)
    .select(["id", "title", "content"])
    .where("id", "in", ids)
    .execute();
  const phrases = listPhrases(search).map(spaced);
  return texts.filter((text) => contains(text, phrases)).map(({ id }) => id);
}

const spaced = (words: readonly string[]) => ` ${words.join(" ")} `;

function contains({ title, content }: { title: string; content: string }, phrases: readonly string[]): boolean {
  const words = spaced(listWords(`${title}\n${content}`));
  return phrases.every((phrase) => words.includes(phrase));
}

async function countStars(shown: Shown, filters: readonly Condition[], context: HandlerContext): Promise<Stars> {
  if (!shown.isShown) return noStars;
  const { rows } = await sql<{ score: number; reviews: number }>`
    select reviews.score, count(*) as reviews from reviews
    where reviews.account_id = ${accountOf(context).id} and ${all([shown.isShown, ...filters])}
    group by reviews.score`.execute(context.transaction);
  const stars: number[] = [...noStars];
  for (const { score, reviews } of rows) stars[score - 1] = Number(reviews);
  return stars as unknown as Stars;
}

interface Order {
  readonly column: "created_at" | "score" | "votes_up";
  readonly isDescending: boolean;
}

const orders: Readonly<Record<StorefrontSort, Order>> = {
  newest: { column: "created_at", isDescending: true },
  oldest: { column: "created_at", isDescending: false },
  highest: { column: "score", isDescending: true },
  lowest: { column: "score", isDescending: false },
  most_helpful: { column: "votes_up", isDescending: true },
};

interface Page extends Readonly<Record<"page" | "per_page" | "total", number>> {
  readonly sort: StorefrontSort;
  readonly filters: readonly Condition[];
}

/** Selects the IDs of a page using only an index, from the nearer end, so that the last page is as fast as the first. */
async function selectPage(
  { isShown }: Shown,
  { page, per_page, total, sort, filters }: Page,
  context: HandlerContext,
): Promise<readonly number[]> {
  const offset = (page - 1) * per_page;
  const limit = Math.min(per_page, total - offset);
  if (!isShown || limit <= 0) return [];
  const isFromEnd = offset > total / 2;
  const order = orders[sort];
  const columns = [...new Set([order.column, "created_at", "id"])];
  const direction = order.isDescending === isFromEnd ? "asc" : "desc";
  const orderBy = sql.raw(columns.map((column) => `reviews.${column} ${direction}`).join(", "));
  const { rows } = await sql<{ id: number }>`
    select reviews.id from reviews
    where reviews.account_id = ${accountOf(context).id} and ${all([isShown, ...filters])}
    order by ${orderBy} limit ${limit} offset ${isFromEnd ? total - offset - limit : offset}`.execute(
    context.transaction,
  );
  const ids = rows.map(({ id }) => id);
  return isFromEnd ? ids.toReversed() : ids;
}

function all(conditions: readonly Condition[]): RawBuilder<unknown> {
  return sql.join([...conditions], sql` and `);
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
    photos: showsPhotosOf(review) ? images.map((image) => formatPhoto(image, context.publicUrl)) : [],
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
  const { isShown } = await findShown(product_id, context);
  if (!isShown) return { pagination: { ...paging, total: 0 }, photos: [] };
  const withPhotos = sql`reviews.account_id = ${accountOf(context).id} and ${all([isShown, hasPhotos])}`;
  const counted = await sql<{ total: number | null }>`
    select sum(reviews.images) as total from reviews where ${withPhotos}`.execute(context.transaction);
  const offset = Math.min((paging.page - 1) * paging.per_page, Number.MAX_SAFE_INTEGER);
  const { rows } = await sql<ReviewImage>`
    select review_images.id, review_images.review_row, review_images.width, review_images.height, review_images.color,
      ${linkedUrl} as url from reviews
    cross join review_images
    where ${withPhotos} and review_images.account_id = ${accountOf(context).id}
      and review_images.review_row = reviews.id
    order by reviews.created_at desc, reviews.id desc, review_images.id
    limit ${paging.per_page} offset ${offset}`.execute(context.transaction);
  const found = await findReviews([...new Set(rows.map(({ review_row }) => review_row))], context);
  const byId = new Map(found.map((parts) => [parts.review.id, toReviewFields(parts)]));
  return {
    pagination: { ...paging, total: Number(counted.rows[0]?.total ?? 0) },
    photos: rows.flatMap((image) => {
      const review = byId.get(image.review_row);
      return review ? [{ ...formatPhoto(image, context.publicUrl), review }] : [];
    }),
  };
}
