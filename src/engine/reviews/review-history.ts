import type { HandlerContext } from "../kernel/handler.ts";

/** An event in a review's history. */
export interface ReviewEvent {
  readonly event: string;
  readonly by: string;
  readonly reason: string | null;
}

/** Appends an event to a review's history, which is append-only. */
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
