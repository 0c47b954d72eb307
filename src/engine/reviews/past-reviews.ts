import { sql } from "kysely";
import { actorNames, type PastReview, type ReviewerType } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement } from "../../storage/statement.ts";
import { addShoppers } from "../accounts/shoppers.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import type { ReviewParts } from "./review-response.ts";
import { type NewReview, placeReviews, storeReviews } from "./review-rows.ts";

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
  const authors = await addShoppers(
    reviews.map(({ input, reviewer_type }) => ({ ...input, isVerified: reviewer_type !== "anonymous" })),
    accountId,
    context,
  );
  const inputs = reviews.map(({ input }) => input);
  const { groups, places } = await placeReviews(inputs, authors, true, context);
  const parts = reviews.map((review, at) => toParts(review, places[at] as Place));
  const imported = [{ event: "imported", by: actorNames.store, reason: null }];
  const stored = await storeReviews(parts, groups, () => imported, context);
  const images = reviews.flatMap(({ past }, at) => (past.images ?? []).map((url) => [stored[at]?.review.id, url]));
  await insertImages(images, context);
  return stored;
}

type Place = Awaited<ReturnType<typeof placeReviews>>["places"][number];

function toParts({ past, reviewer_type }: ImportedReview, { row, ...place }: Place) {
  const created_at = Date.parse(past.created_at);
  const comment = past.comment ?? null;
  const isShown = past.published ?? true;
  const commentedMs = past.comment_created_at ? Date.parse(past.comment_created_at) : created_at;
  return {
    ...place,
    row: Object.assign(row, {
      reviewer_type,
      published: isShown ? 1 : 0,
      moderation: isShown ? "published" : "unpublished",
      comment,
      comment_at: comment === null ? null : commentedMs,
      created_at,
      images: past.images?.length ?? 0,
      order_row: null,
    }),
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
