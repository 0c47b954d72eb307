import type { HandlerContext } from "../kernel/handler.ts";

/** A step in a review's life. */
export interface ReviewEvent {
  readonly event: string;
  readonly by: string;
  readonly reason: string | null;
}

/** Appends to what happened to a review; nothing of it is ever changed. */
export async function recordReviewEvent(
  review: { readonly id: number; readonly accountId: number },
  { event, by, reason }: ReviewEvent,
  { transaction, nowMs }: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<void> {
  await transaction
    .insertInto("review_events")
    .values({
      account_id: review.accountId,
      review_row: review.id,
      event,
      by_name: by,
      reason,
      created_at: nowMs,
    })
    .execute();
}
