import { sql } from "kysely";
import { actorNames, type PastReview, type ReviewerType } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement } from "../../storage/statement.ts";
import { addShoppers } from "../accounts/shoppers.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { findGroups } from "./rating-targets.ts";
import type { ReviewParts } from "./review-response.ts";
import {
  addReviewedProducts,
  countPublished,
  insertReviews,
  type NewRow,
  recordReviewEvents,
  targetOf,
  toStored,
} from "./review-rows.ts";
import { indexReviews } from "./review-index.ts";
import type { NewReview } from "./reviewed-product.ts";

export interface ImportedReview {
  readonly input: NewReview;
  readonly past: PastReview;
  readonly reviewer_type: ReviewerType;
}

/**
 * Stores reviews that were written in the past, with a constant number of statements.
 * Assumed: an imported review has the state that the store reports, its comment is as old as the review unless the store
 * states its time, its images stay where they are, and it triggers no emails and no webhook events.
 */
export async function storePastReviews(
  reviews: readonly ImportedReview[],
  context: HandlerContext,
): Promise<ReviewParts[]> {
  if (reviews.length === 0) return [];
  const { id: accountId } = accountOf(context);
  const products = await addReviewedProducts(
    reviews.map(({ input }) => input),
    true,
    context,
  );
  const authors = await addShoppers(
    reviews.map(({ input, reviewer_type }) => ({ ...input, isVerified: reviewer_type !== "anonymous" })),
    accountId,
    context,
  );
  const productRows = Array.from(products.values(), ({ id }) => id);
  const groups = await findGroups(productRows, accountId, context);
  const parts = reviews.map((review, at) => {
    const author = authors[at];
    if (!author) throw new Error("an author was not stored");
    const product = products.get(review.input.sku);
    const rating_target = targetOf(product, groups, accountId);
    return {
      row: toRow(review, { rating_target, product_row: product?.id ?? null, user_row: author.id }),
      author,
      product,
    };
  });
  const ids = await insertReviews(
    parts.map(({ row }) => row),
    context,
  );
  const event = { event: "imported", by: actorNames.store, reason: null };
  await recordReviewEvents(
    ids.map((id) => ({ id, ...event })),
    accountId,
    context,
  );
  const images = reviews.flatMap(({ past }, at) => (past.images ?? []).map((url) => [ids[at], url]));
  await insertImages(images, context);
  await countPublished(
    parts.map(({ row }) => row),
    groups,
    context,
  );
  const stored = parts.map(({ row, author, product }, at) => ({
    review: toStored(row, ids[at] ?? 0, context),
    author,
    product,
  }));
  await indexReviews(stored, accountId, context);
  return stored;
}

function toRow(
  { input, past, reviewer_type }: ImportedReview,
  rows: Pick<NewRow, "rating_target" | "product_row" | "user_row">,
): NewRow {
  const created_at = Date.parse(past.created_at);
  const comment = past.comment ?? null;
  const isShown = past.published ?? true;
  const commentedMs = past.comment_created_at ? Date.parse(past.comment_created_at) : created_at;
  return {
    ...rows,
    title: input.review_title,
    content: input.review_content,
    score: input.review_score,
    reviewer_type,
    user_reference: input.user_reference || null,
    domain: input.domain || null,
    published: isShown ? 1 : 0,
    moderation: isShown ? "published" : "unpublished",
    comment,
    comment_at: comment === null ? null : commentedMs,
    created_at,
    images: past.images?.length ?? 0,
    order_row: null,
  };
}

async function insertImages(images: readonly (readonly unknown[])[], context: HandlerContext): Promise<void> {
  if (images.length === 0) return;
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  await insertImageRows(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(images) });
}

const insertImageRows = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into review_images (account_id, created_at, content_type, base64, review_row, url)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), '', '', batch.review_row, batch.url
    from ${batchOf<{ review_row: number; url: string }>({ review_row: "integer", url: "text" }, slot("rows"), dialect)}
    where true
    ${dialect.inBatchOrder}`,
);
