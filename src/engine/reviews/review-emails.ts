import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { type NewEmail, queueEmail, queueEmails, queueWebhookEvents, withdrawEmails } from "../kernel/outbox.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import { findOwner, readAppKey } from "../accounts/account-profile.ts";
import type { Row } from "../../storage/tables.ts";
import { namedBy } from "../products/product-view.ts";
import { showProducts } from "./review-parts.ts";
import { type ReviewParts, toEventData } from "./review-response.ts";
import { emailKeyOf, type WebhookEvent } from "../../contract/index.ts";
import { iso } from "../kernel/times.ts";

/** Describes a review, whose product is shown as others see it. */
function describe({ review, product }: ReviewParts) {
  const { title, content, score } = review;
  return { title, content, score, product_name: product?.name ?? null };
}

/**
 * Creates the email that asks the author of a review to verify it.
 * Source: spec "States and transitions": verification emails are sent to the reviewing customers.
 * Assumed: anyone can send this email to any address, so it contains no text that the sender chose.
 */
function createVerification({ review, author, product }: ReviewParts): NewEmail {
  return {
    accountId: review.account_id,
    category: "anonymous_testimonials_request",
    email: author.email,
    name: "",
    data: (link) => ({
      // Templates of earlier versions may contain both.
      title: "",
      content: "",
      score: review.score,
      product_name: product && product.named_by_visitor !== namedBy.visitor ? product.name : null,
      verify_url: link("verify_review", review.id),
    }),
  };
}

/**
 * Notifies the owner of the store of new reviews, and asks their authors to verify them.
 * Source: spec "Unsubscriber": comment requests are sent to store owners after a new review. Assumed: imported reviews and
 * those of the synchronous call, which is for development, cause none.
 */
export async function queueReviewEmails(
  reviews: readonly ReviewParts[],
  { isVerified }: { readonly isVerified: boolean },
  context: HandlerContext,
): Promise<void> {
  const [first] = reviews;
  if (!first) return;
  const accountId = first.review.account_id;
  const owner = await findOwner(accountId, context);
  const target = owner && { publicUrl: context.publicUrl, appKey: await readAppKey(context, accountId) };
  const emails: NewEmail[] = [];
  for (const parts of await showProducts(reviews, accountId, context)) {
    const { review, product } = parts;
    if (target) {
      const comment_url = seoPageUrl({ ...target, productId: product?.product_id });
      const data = () => ({ ...describe(parts), review_id: review.id, comment_url });
      const { email, display_name: name } = owner;
      emails.push({ accountId, category: "comment_request", email, name, data });
    }
    if (!isVerified) emails.push(createVerification(parts));
  }
  await queueEmails(emails, accountId, context);
}

/**
 * Notifies the author of a review of the store's comment.
 * Assumed: there is no email to authors of imported or hidden reviews, or with unverified addresses, nor about a changed
 * comment.
 */
export async function queueCommentNotification(parts: ReviewParts, context: HandlerContext): Promise<void> {
  const { review, author } = parts;
  if (review.published === 0 || review.reviewer_type === "anonymous") return;
  if (await isImported(review, context)) return;
  const [shown = parts] = await showProducts([parts], review.account_id, context);
  await queueEmail(
    {
      accountId: review.account_id,
      category: "comment_notification",
      email: author.email,
      name: author.display_name,
      data: () => ({ review_id: review.id, ...describe(shown), comment: review.comment ?? "" }),
    },
    context,
  );
}

/**
 * Cancels the queued notification of a comment that was edited or deleted.
 * @returns whether there was one
 */
export function withdrawCommentNotification(
  { review, author }: ReviewParts,
  context: HandlerContext,
): Promise<boolean> {
  const { id, account_id: accountId } = review;
  const about = { categories: ["comment_notification"], record: ["review_id", id], texts: ["comment"] } as const;
  return withdrawEmails({ accountId, recipients: [author.email], ...about }, context);
}

async function isImported({ id, account_id }: Row<"reviews">, { transaction }: HandlerContext): Promise<boolean> {
  const found = await selectAccountRows("review_events", account_id, transaction)
    .select("id")
    .where("review_row", "=", id)
    .where("event", "=", "imported")
    .executeTakeFirst();
  return found !== undefined;
}

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
    .where("order_emails.email_key", "=", emailKeyOf(author.email))
    .orderBy("orders.order_date", "desc")
    .orderBy("orders.id", "desc")
    .limit(1);
  const { product_row: productRow } = review;
  const found = productRow === null ? bought : bought.where("purchases.product_row", "=", productRow);
  return (await found.executeTakeFirst())?.order_id ?? null;
}
