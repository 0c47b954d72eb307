import type { WebhookEvent } from "../../contract/index.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { emailKeysOf } from "../orders/buyer-lookup.ts";
import { queueWebhookEvent } from "../kernel/outbox.ts";
import { type ReviewParts, toEventData } from "./review-response.ts";

/** Tells the webhooks of a review's account that it was created, or that it has changed. */
export async function announceReview(
  event: WebhookEvent,
  parts: ReviewParts,
  context: HandlerContext,
): Promise<void> {
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
 * The store's own id of the order that a review belongs to.
 * Assumed: the order whose mail it was written from; else the newest order of the author's address that has the
 * product, or any product where the review is of the store itself. Whether the address was verified is told beside it.
 */
async function findOrderId(
  { review, author }: ReviewParts,
  { transaction }: HandlerContext,
): Promise<string | null> {
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
