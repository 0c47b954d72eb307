import type { WebhookEvent } from "../../contract/index.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { readAppKey } from "../accounts/account-profile.ts";
import { emailKeysOf } from "../kernel/lists/authors.ts";
import { queueWebhookEvents } from "../kernel/outbox.ts";
import { iso } from "../kernel/times.ts";
import { type ReviewParts, toEventData } from "./review-response.ts";

/** Queues a webhook event for each of the reviews of an account that were created or updated. */
export async function announceReviews(
  event: WebhookEvent,
  reviews: readonly ReviewParts[],
  context: HandlerContext,
): Promise<void> {
  const [first] = reviews;
  if (!first) return;
  const { account_id: accountId } = first.review;
  const readData = async () => {
    const appKey = await readAppKey(context, accountId);
    const data: Record<string, unknown>[] = [];
    for (const parts of reviews) {
      const own = toEventData(parts, { appKey, orderId: await findOrderId(parts, context) });
      data.push(event.startsWith("review_comment") ? { ...own, comment: toComment(parts) } : own);
    }
    return data;
  };
  await queueWebhookEvents(event, readData, accountId, context);
}

/** The store's comment on a review; null if it was deleted. */
function toComment({ review: { comment, comment_at } }: ReviewParts) {
  return comment === null ? null : { content: comment, created_at: comment_at === null ? null : iso(comment_at) };
}

/**
 * Finds the store's ID for the order that a review belongs to.
 * Assumed: this is the order whose email led to the review, or else the newest order of the author's email address with
 * the product (any product for a review of the store). The event also states whether the address is verified.
 */
export async function findOrderId(
  { review, author }: ReviewParts,
  { transaction }: HandlerContext,
): Promise<string | null> {
  if (review.order_row !== null) {
    const found = await selectAccountRows("orders", review.account_id, transaction)
      .select("order_id")
      .where("id", "=", review.order_row)
      .executeTakeFirst();
    return found?.order_id ?? null;
  }
  const bought = selectAccountRows("order_emails", review.account_id, transaction)
    .innerJoin("orders", sameAccount("orders.id", "order_emails.order_row"))
    .innerJoin("purchases", sameAccount("purchases.order_row", "orders.id"))
    .select("orders.order_id")
    .where("order_emails.email_key", "in", emailKeysOf(author.email))
    .orderBy("orders.order_date", "desc")
    .orderBy("orders.id", "desc")
    .limit(1);
  const { product_row: productRow } = review;
  const found = productRow === null ? bought : bought.where("purchases.product_row", "=", productRow);
  return (await found.executeTakeFirst())?.order_id ?? null;
}
