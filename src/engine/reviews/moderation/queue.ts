import { buyerIndex, buyerIndexForWebhooks } from "../../orders/buyer-lookup.ts";
import type * as z from "zod";
import { sql } from "kysely";
import { type contract, type PublishedReviews, queuePage } from "../../../contract/index.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import { accountOf, actorOf, type HandlerContext, type Handlers, operation } from "../../kernel/handler.ts";
import { announceUpdate, changeReview, isPublished, readPublishedReviews, updatePublication } from "../publication.ts";
import { findOrderId } from "../review-emails.ts";
import { findImages, findReview, selectReviewParts, toParts } from "../review-parts.ts";
import { type ReviewParts, toDetailedReview, toListedReview } from "../review-response.ts";
import { recordReviewEvents } from "../review-rows.ts";
import { stateOf } from "../review-index.ts";

type Reviews = Handlers<typeof contract.reviews>;

/** The condition of the index `reviews_to_moderate`. */
const isWaiting = sql<boolean>`reviews.published = 0 and coalesce(reviews.moderation, 'held') = 'held'`;

export const queueHandlers: Pick<Reviews, "queue" | "requeue"> = {
  queue: operation("reviews.queue", {
    before: () => buyerIndex,
    run: async (query, context) => {
      const found = (await selectQueuePage(query, context).execute()).map(toParts);
      const setting = await readPublishedReviews(accountOf(context).id, context);
      const reviews = found.map(({ review }) => review);
      const images = await findImages(reviews, context);
      const reasons = await findReasons(
        reviews.map(({ id }) => id),
        context,
      );
      const listed: z.output<typeof contract.reviews.queue.output>["reviews"] = [];
      for (const parts of found) {
        const { id, moderation, comment } = parts.review;
        const detailed = toDetailedReview(parts, images.get(id) ?? [], context.publicUrl);
        listed.push({
          ...detailed,
          state: moderation === null ? "pending" : "held",
          held_because: moderation === null ? pendingReasons[setting] : (reasons.get(id) ?? "held"),
          product_title: parts.product?.name ?? null,
          order_id: await findOrderId(parts, context),
          images: detailed.images ?? [],
          comment,
        });
      }
      return { total: await countQueue(query, context), reviews: listed };
    },
  }),

  /**
   * Returns a review to the queue, even if a person decided on it.
   * Assumed: without a decision, a review that would be published is held.
   */
  requeue: operation("reviews.requeue", {
    before: () => buyerIndexForWebhooks,
    run: async ({ review_id, by, reason = null }, context) => {
      const accountId = accountOf(context).id;
      const found = await findReview(review_id, context);
      if (["held", "pending"].includes(stateOf(found.review))) return toResponse(found);
      const setting = await readPublishedReviews(accountId, context);
      const undecided = { moderation: null, reviewer_type: found.review.reviewer_type };
      const wasHeld = (await findReasons([review_id], context)).size > 0;
      const moderation = isPublished(undecided, setting) || wasHeld ? "held" : null;
      await recordReviewEvents(
        [{ id: review_id, event: "requeued", by: actorOf(context, by), reason }],
        accountId,
        context,
      );
      await changeReview(review_id, { moderation }, context);
      await updatePublication(review_id, context);
      return toResponse(await announceUpdate(review_id, context));
    },
  }),
};

const toResponse = (parts: ReviewParts) => ({
  review: { ...toListedReview(parts), state: stateOf(parts.review) },
});

/** Why the setting of the account keeps a review from being published. */
const pendingReasons: Readonly<Record<PublishedReviews, string>> = {
  all: "waits for a decision",
  verified: "the author is not verified",
  moderated: "every review waits for a decision",
};

type Query = z.output<typeof contract.reviews.queue.input>;

/** Selects the IDs of the queue using only its index. */
function selectQueue({ state }: Query, context: HandlerContext) {
  const waiting = selectAccountRows("reviews", accountOf(context).id, context.transaction).where(isWaiting);
  if (state === undefined) return waiting;
  return state === "held"
    ? waiting.where("reviews.moderation", "=", "held")
    : waiting.where("reviews.moderation", "is", null);
}

export function selectQueuePage(query: Query, context: HandlerContext) {
  const ids = selectQueue(query, context)
    .select("reviews.id")
    .where("reviews.id", ">=", query.since_id ?? 0)
    .orderBy("reviews.id")
    .limit(Math.min(query.count ?? queuePage.default, queuePage.max));
  return selectReviewParts(accountOf(context).id, context, ids).orderBy("reviews.id");
}

async function countQueue(query: Query, context: HandlerContext): Promise<number> {
  const { reviews } = await selectQueue(query, context)
    .select(({ fn }) => fn.countAll<number>().as("reviews"))
    .executeTakeFirstOrThrow();
  return reviews;
}

/** The latest reasons for which reviews were held, or returned to the queue. */
async function findReasons(ids: readonly number[], context: HandlerContext): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  const events = await selectAccountRows("review_events", accountOf(context).id, context.transaction)
    .select(["review_row", "event", "reason"])
    .where("review_row", "in", ids)
    .where("event", "in", ["held", "requeued"])
    .orderBy("id")
    .execute();
  return new Map(events.map(({ review_row, event, reason }) => [review_row, reason ?? defaultReasons[event] ?? ""]));
}

const defaultReasons: Readonly<Record<string, string>> = { requeued: "returned to the queue" };
