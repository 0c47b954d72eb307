import { sql } from "kysely";
import type * as z from "zod";
import { type contract, reviewListPage, type TopReview } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import type { ReviewParts } from "./review-response.ts";
import { selectReviewParts, toParts } from "./review-parts.ts";
import { publicName } from "../accounts/shoppers.ts";
import { accountTarget } from "./rating-targets.ts";
import { readStars, sumStars } from "./star-totals.ts";

type Query = z.output<typeof contract.reviews.list.input>;

/** The sort column of a list, if not the ID. An index exists for each order. */
function orderOf({ since_updated_at, since_date }: Query) {
  if (since_updated_at !== undefined) return "reviews.updated_at" as const;
  return since_date === undefined ? undefined : ("reviews.created_at" as const);
}

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

export function selectReviewPage(query: Query, context: HandlerContext) {
  const count = Math.min(query.count ?? reviewListPage.default, reviewListPage.max);
  const skipped = (Math.max(query.page ?? 1, 1) - 1) * count;
  const order = orderOf(query);
  const ids = selectListed(query, context)
    .select("reviews.id")
    .$if(order !== undefined, (listed) => listed.orderBy(order ?? "reviews.id"))
    .orderBy("reviews.id")
    .limit(count)
    .offset(Math.min(skipped, Number.MAX_SAFE_INTEGER));
  return selectReviewParts(accountOf(context).id, context, ids)
    .$if(order !== undefined, (found) => found.orderBy(order ?? "reviews.id"))
    .orderBy("reviews.id");
}

/**
 * Lists the reviews of an account.
 * Assumed: `since_id` is the lowest ID listed; dates are UTC; reviews are sorted by ID, with `since_date` by creation
 * time, with `since_updated_at` by update time; `page` starts at 1; `count` is at most 1,000.
 */
export async function listReviews(query: Query, context: HandlerContext): Promise<ReviewParts[]> {
  return (await selectReviewPage(query, context).execute()).map(toParts);
}

/**
 * Counts the published reviews of an author, or of the account.
 * Assumed: `total_reviews` ignores the filters by date and `since_id`.
 */
export async function countReviews({ user_reference }: Query, context: HandlerContext): Promise<number> {
  const { id } = accountOf(context);
  if (user_reference === undefined)
    return sumStars(await readStars({ accountId: id, target: accountTarget(id) }, context)).reviews;
  const { reviews } = await selectListed({ user_reference }, context)
    .select(({ fn }) => fn.countAll<number>().as("reviews"))
    .executeTakeFirstOrThrow();
  return reviews;
}

/** Minimum length of content for `good_length`, in characters. Assumed: the specification does not state it. */
const goodLength = 100;

/**
 * Lists the three latest 5-star reviews.
 * Assumed: only product reviews, because a review of the store has no product to show.
 */
export async function listTopReviews(context: HandlerContext): Promise<TopReview[]> {
  const found = await selectTopReviews(context).execute();
  return found.map((row) => ({
    id: row.id,
    product_id: row.product_row ?? 0,
    featured_image_id: row.first_image,
    image: row.images > 0 ? 1 : 0,
    good_length: row.content.length >= goodLength ? 1 : 0,
    title: row.title,
    content: row.content,
    score: row.score,
    created_at: new Date(row.created_at).toISOString(),
    product_url: row.product_url ?? "",
    image_url: row.product_image_url,
    product_name: row.product_name ?? "",
    display_name: publicName({ kind: row.users_kind, display_name: row.users_display_name }),
  }));
}

export function selectTopReviews(context: HandlerContext) {
  const { id: accountId } = accountOf(context);
  const ids = selectAccountRows("reviews", accountId, context.transaction)
    .select("reviews.id")
    .where("reviews.published", "=", 1)
    .where("reviews.score", "=", 5)
    .where("reviews.product_row", "is not", null)
    .orderBy("reviews.created_at", "desc")
    .orderBy("reviews.id", "desc")
    .limit(3);
  const firstImage = sql<number | null>`case when reviews.images > 0 then (
    select min(review_images.id) from review_images
    where review_images.account_id = ${accountId} and review_images.review_row = reviews.id) end`;
  return selectReviewParts(accountId, context, ids)
    .select(firstImage.as("first_image"))
    .orderBy("reviews.created_at", "desc")
    .orderBy("reviews.id", "desc");
}
