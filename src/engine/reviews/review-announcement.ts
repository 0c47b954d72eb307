import type { WebhookEvent } from "../../contract/index.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { emailKeysOf } from "../orders/buyer-lookup.ts";
import { queueWebhookEvent } from "../kernel/outbox.ts";
import { type ReviewParts, toEventData } from "./review-response.ts";

/** Queues a webhook event for a review that was created or updated. */
export async function announceReview(event: WebhookEvent, parts: ReviewParts, context: HandlerContext): Promise<void> {
  const accountId = parts.review.account_id;
  const readData = async () => {
    const { app_key: appKey } = await context.transaction
      .selectFrom("accounts")
      .select("app_key")
      .where("id", "=", accountId)
      .executeTakeFirstOrThrow();
    return toEventData(parts, { appKey, orderId: await findOrderId(parts, context) });
  };
  await queueWebhookEvent(event, readData, accountId, context);
}

/**
 * Finds the store's ID for the order that a review belongs to.
 * Assumed: this is the order whose email led to the review, or else the newest order of the author's email address with
 * the product (any product for a review of the store). The event also states whether the address is verified.
 */
async function findOrderId({ review, author }: ReviewParts, { transaction }: HandlerContext): Promise<string | null> {
  if (review.order_row !== null) {
    const found = await transaction
      .selectFrom("orders")
      .select("order_id")
      .where("id", "=", review.order_row)
      .executeTakeFirst();
    return found?.order_id ?? null;
  }
  const bought = transaction
    .selectFrom("order_emails")
    .innerJoin("orders", "orders.id", "order_emails.order_row")
    .innerJoin("purchases", "purchases.order_row", "orders.id")
    .select("orders.order_id")
    .where("order_emails.account_id", "=", review.account_id)
    .where("order_emails.email_key", "in", emailKeysOf(author.email))
    .orderBy("orders.order_date", "desc")
    .orderBy("orders.id", "desc")
    .limit(1);
  const { product_row: productRow } = review;
  const found = productRow === null ? bought : bought.where("purchases.product_row", "=", productRow);
  return (await found.executeTakeFirst())?.order_id ?? null;
}
