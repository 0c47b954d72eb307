import type * as z from "zod";
import { actorNames, type contract, type WebhookEvent } from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type Moderation, type ReviewKey, updatePublication } from "./publication.ts";
import { announceReviews } from "./review-announcement.ts";
import { findReview } from "./review-parts.ts";
import type { ReviewParts } from "./review-response.ts";
import { recordReviewEvents, type ReviewEvent } from "./review-rows.ts";
import { refreshTags } from "./review-index.ts";

function decide(published: boolean): Moderation {
  return published ? "published" : "unpublished";
}

/**
 * Publishes or hides a review.
 * Assumed: every call is recorded with its reason, even if it changes nothing, unless it repeats the last event; `by`
 * defaults to MODERATOR.
 */
export async function setPublished(
  { review_id, published, reason, by = actorNames.store }: z.output<typeof contract.reviews.setPublished.input>,
  context: HandlerContext,
): Promise<ReviewParts> {
  const accountId = accountOf(context).id;
  const found = await findReview(review_id, { accountId, isPublished: false }, context);
  const key = { id: review_id, accountId };
  const event = { id: review_id, event: published ? "published" : "unpublished", by, reason };
  if (await isLastEvent(event, accountId, context)) return found;
  await recordReviewEvents([event], accountId, context);
  await changeReview(key, { moderation: decide(published) }, context);
  await updatePublication(key, context);
  return announceUpdate(key, context, event.event);
}

/** Whether the event equals the last one in the review's history. */
async function isLastEvent(
  { id, event, by, reason }: ReviewEvent,
  accountId: number,
  { transaction }: HandlerContext,
): Promise<boolean> {
  const last = await selectAccountRows("review_events", accountId, transaction)
    .select(["event", "by_name", "reason"])
    .where("review_row", "=", id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.event === event && last.by_name === by && last.reason === reason;
}

export async function changeReview(
  { id, accountId }: ReviewKey,
  changes: Partial<Row<"reviews">>,
  context: HandlerContext,
): Promise<void> {
  await updateAccountRows("reviews", accountId, context.transaction).set(changes).where("id", "=", id).execute();
  await refreshTags([id], accountId, context);
}

/** The webhook events for events in a review's history. */
const announced: Readonly<Record<string, WebhookEvent>> = {
  published: "review_published",
  unpublished: "review_hidden",
  commented: "review_commented",
  comment_edited: "review_comment_edited",
  comment_deleted: "review_comment_deleted",
};

/** @param event the event in the review's history, if webhooks may ask for such events */
export async function announceUpdate(
  { id, accountId }: ReviewKey,
  context: HandlerContext,
  event = "",
): Promise<ReviewParts> {
  const parts = await findReview(id, { accountId, isPublished: false }, context);
  await announceReviews("review_updated", [parts], context);
  const own = announced[event];
  if (own !== undefined) await announceReviews(own, [parts], context);
  return parts;
}
