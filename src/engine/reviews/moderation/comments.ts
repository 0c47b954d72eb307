import { buyerIndexForWebhooks } from "../../orders/buyer-lookup.ts";
import { type contract, recordNotFound } from "../../../contract/index.ts";
import { actorOf, type HandlerContext, type Handlers, operation } from "../../kernel/handler.ts";
import { queueCommentNotification, withdrawCommentNotification } from "../review-emails.ts";
import { findReview } from "../review-parts.ts";
import type { ReviewParts } from "../review-response.ts";
import { recordReviewEvents } from "../review-rows.ts";
import { announceUpdate, changeReview } from "../publication.ts";

/** Who changes a comment, and why. */
interface Decision {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

export const commentHandlers: Pick<Handlers<typeof contract.reviews>, "comment" | "editComment" | "deleteComment"> = {
  /**
   * Comments on a review as the store.
   * Assumed: a review has one comment, which a new one replaces; repeating the same comment changes nothing.
   */
  comment: operation("reviews.comment", {
    before: () => buyerIndexForWebhooks,
    run: async ({ review_id, content, by }, context) => {
      const decision = { event: "commented", atMs: context.nowMs, by };
      return toComment(await setComment(await findReview(review_id, context), content, decision, context), context);
    },
  }),

  /**
   * @throws ServiceError `recordNotFound` if the review has no comment
   * Assumed: an edited comment keeps its time.
   */
  editComment: operation("reviews.editComment", {
    before: () => buyerIndexForWebhooks,
    run: async ({ review_id, content, by, reason }, context) => {
      const found = await findCommented(review_id, context);
      const decision = { event: "comment_edited", atMs: found.review.comment_at ?? context.nowMs, by, reason };
      return toComment(await setComment(found, content, decision, context), context);
    },
  }),

  /** @throws ServiceError `recordNotFound` if the review has no comment */
  deleteComment: operation("reviews.deleteComment", {
    before: () => buyerIndexForWebhooks,
    run: async ({ review_id, ...decision }, context) => {
      const found = await findCommented(review_id, context);
      await withdrawCommentNotification(found, context);
      await change(found, { comment: null, comment_at: null }, { event: "comment_deleted", ...decision }, context);
      return {};
    },
  }),
};

async function findCommented(reviewId: number, context: HandlerContext): Promise<ReviewParts> {
  const found = await findReview(reviewId, context);
  if (found.review.comment === null) throw recordNotFound("Comment", "review_id", reviewId);
  return found;
}

/** Assumed: an author who was not notified of the previous text yet is notified only of the new one. */
async function setComment(
  found: ReviewParts,
  content: string,
  decision: Decision & { readonly event: string; readonly atMs: number },
  context: HandlerContext,
): Promise<ReviewParts> {
  const isFirst = found.review.comment === null;
  if (found.review.comment === content) return found;
  const isUnsent = !isFirst && (await withdrawCommentNotification(found, context));
  const updated = await change(found, { comment: content, comment_at: decision.atMs }, decision, context);
  if (isFirst || isUnsent) await queueCommentNotification(updated, context);
  return updated;
}

async function change(
  { review }: ReviewParts,
  changes: { readonly comment: string | null; readonly comment_at: number | null },
  { event, by, reason }: Decision & { readonly event: string },
  context: HandlerContext,
): Promise<ReviewParts> {
  const edited = { id: review.id, event, by: actorOf(context, by), reason: reason ?? null, previous: review.comment };
  await recordReviewEvents([edited], review.account_id, context);
  await changeReview(review.id, { ...changes, updated_at: context.nowMs }, context);
  return announceUpdate(review.id, context, event);
}

function toComment({ review }: ReviewParts, { nowMs }: HandlerContext) {
  const created_at = new Date(review.comment_at ?? nowMs).toISOString();
  return { comment: { id: review.id, content: review.comment ?? "", created_at, comments_avatar: null } };
}
