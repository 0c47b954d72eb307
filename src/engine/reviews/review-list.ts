import { sql } from "kysely";
import type * as z from "zod";
import { type contract, reviewListPage, type TopReview } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import type { ReviewParts } from "./review-response.ts";
import { selectReviewParts, showProducts, showsPhotos, toParts } from "./review-parts.ts";
import { publicName } from "../accounts/shoppers.ts";
import { accountTarget, siteTarget } from "./rating-targets.ts";
import { readStars, sumStars } from "./star-totals.ts";

type Query = z.output<typeof contract.reviews.list.input>;

/** Selects the reviews of a list using only an index. */
function selectListed(query: Query, context: HandlerContext) {
  const { since_id, since_date, since_updated_at, state, user_reference } = query;
  let listed = selectAccountRows("reviews", accountOf(context).id, context.transaction);
  if (state !== undefined) listed = listed.where("reviews.published", "=", state === "published" ? 1 : 0);
  else if (query.deleted !== true) listed = listed.where("reviews.published", "=", 1);
  if (state === "pending") listed = listed.where("reviews.moderation", "is", null);
  if (state === "held" || state === "unpublished") listed = listed.where("reviews.moderation", "=", state);
  if (user_reference !== undefined) listed = listed.where("reviews.user_reference", "=", user_reference);
  if (since_id !== undefined) listed = listed.where("reviews.id", ">=", since_id);
  if (since_date !== undefined) listed = listed.where("reviews.created_at", ">=", Date.parse(since_date));
  if (since_updated_at !== undefined) {
    listed = listed.where("reviews.updated_at", ">=", Date.parse(since_updated_at));
  }
  return listed;
}

/** The most reviews since a time that are sorted, because the index of the times finds them. */
const maxSorted = 10_000;

/** Whether few enough reviews are since the time of a query that the index of the times finds them. */
async function areFewSince(query: Query, context: HandlerContext): Promise<boolean> {
  if (query.since_date === undefined && query.since_updated_at === undefined) return false;
  const { since_id: _since, ...since } = query;
  const listed = selectListed(since, context).select("reviews.id").limit(maxSorted);
  const found = await context.transaction
    .selectFrom(listed.as("listed"))
    .select(({ fn }) => fn.countAll<number | bigint>().as("reviews"))
    .executeTakeFirstOrThrow();
  return Number(found.reviews) < maxSorted;
}

/** @param areFew whether few reviews are since the time of the query; otherwise, those of lower IDs are skipped one by one */
export function selectReviewPage(query: Query, areFew: boolean, context: HandlerContext) {
  const count = Math.min(query.count ?? reviewListPage.default, reviewListPage.max);
  const skipped = (Math.max(query.page ?? 1, 1) - 1) * count;
  const ids = selectListed(query, context)
    .select("reviews.id")
    // An expression cannot use the index of IDs.
    .orderBy(areFew ? sql`reviews.id + 0` : "reviews.id")
    .limit(count)
    .offset(Math.min(skipped, Number.MAX_SAFE_INTEGER));
  return selectReviewParts(accountOf(context).id, context, ids).orderBy("reviews.id");
}

/**
 * Lists the reviews of an account.
 * Assumed: `since_id` is the lowest ID listed; dates are UTC; reviews are sorted by ID, so that a review that changes
 * while the pages are read moves no other one; `page` starts at 1; `count` is at most 1,000.
 */
export async function listReviews(query: Query, context: HandlerContext): Promise<ReviewParts[]> {
  const areFew = await areFewSince(query, context);
  return (await selectReviewPage(query, areFew, context).execute()).map(toParts);
}

/**
 * Counts the published reviews of an author, or of the account, since a date.
 * Assumed: `total_reviews` ignores `since_id`, which is the position in the list.
 */
export async function countReviews(
  { user_reference, since_date, since_updated_at }: Query,
  context: HandlerContext,
): Promise<number> {
  const { id } = accountOf(context);
  const filters = { user_reference, since_date, since_updated_at };
  if (Object.values(filters).every((value) => value === undefined))
    return sumStars(await readStars({ accountId: id, target: accountTarget(id) }, context)).reviews;
  const { reviews } = await selectListed(filters, context)
    .select(({ fn }) => fn.countAll<number | bigint>().as("reviews"))
    .executeTakeFirstOrThrow();
  return Number(reviews);
}

/** Minimum length of content for `good_length`, in characters. Assumed: the specification does not state it. */
const goodLength = 100;

/**
 * Lists the three latest 5-star reviews of the account.
 * Assumed: one of the store itself has no product: its `product_id` is 0, and the product's other fields are empty.
 */
export async function listTopReviews(context: HandlerContext): Promise<TopReview[]> {
  const rows = await selectTopReviews(context).execute();
  const found = rows.map((row) => Object.assign(toParts(row), { first_image: row.first_image }));
  const shown = await showProducts(found, accountOf(context).id, context);
  return shown.map(({ review, author, product, first_image }) => ({
    id: review.id,
    product_id: review.product_row ?? 0,
    featured_image_id: first_image,
    image: first_image === null ? 0 : 1,
    good_length: review.content.length >= goodLength ? 1 : 0,
    title: review.title,
    content: review.content,
    score: review.score,
    created_at: new Date(review.created_at).toISOString(),
    product_url: product?.url ?? "",
    image_url: product?.image_url ?? null,
    product_name: product?.name ?? "",
    display_name: publicName(author),
    received_coupon: review.received_coupon === 1 ? true : undefined,
  }));
}

export function selectTopReviews(context: HandlerContext) {
  const { id: accountId } = accountOf(context);
  const latest = selectAccountRows("reviews", accountId, context.transaction)
    .select("reviews.id")
    .where("reviews.published", "=", 1)
    .where("reviews.score", "=", 5)
    .orderBy("reviews.created_at", "desc")
    .orderBy("reviews.id", "desc")
    .limit(3);
  // Product and site reviews have an index each.
  const ofProducts = latest.where("reviews.product_row", "is not", null).as("listed");
  const ofSite = latest.where("reviews.rating_target", "=", siteTarget(accountId)).as("listed");
  const select = (found: typeof ofProducts) => context.transaction.selectFrom(found).select("listed.id");
  const ids = selectAccountRows("reviews", accountId, context.transaction)
    .select("reviews.id")
    .where("reviews.id", "in", select(ofProducts).unionAll(select(ofSite)));
  const firstImage = sql<number | null>`case when reviews.images > 0 and ${showsPhotos} then (
    select min(review_images.id) from review_images
    where review_images.account_id = ${accountId} and review_images.review_row = reviews.id) end`;
  return selectReviewParts(accountId, context, ids)
    .select(firstImage.as("first_image"))
    .orderBy("reviews.created_at", "desc")
    .orderBy("reviews.id", "desc")
    .limit(3);
}
