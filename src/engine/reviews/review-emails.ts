import type { HandlerContext } from "../kernel/handler.ts";
import { queueEmail } from "../kernel/outbox.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import { readAppKey } from "../accounts/account-profile.ts";
import { findStoreProduct } from "../products/product-lookup.ts";
import { findOwner } from "../accounts/store-owner.ts";
import type { ReviewParts } from "./review-response.ts";

function describe({ review, product }: ReviewParts) {
  const { title, content, score } = review;
  return { title, content, score, product_name: product?.name ?? null };
}

/**
 * Source: spec "States and transitions": verification emails are sent to the reviewing customers.
 * Assumed: anyone can send this email to any address, so it contains no text that the sender chose.
 */
export async function queueVerification({ review, author }: ReviewParts, context: HandlerContext): Promise<void> {
  const product = review.product_row === null ? undefined : await findStoreProduct(review.product_row, context);
  await queueEmail(
    {
      accountId: review.account_id,
      category: "anonymous_testimonials_request",
      email: author.email,
      name: "",
      data: (link) => ({
        // Templates of earlier versions may contain both.
        title: "",
        content: "",
        score: review.score,
        product_name: product?.name ?? null,
        verify_url: link("verify_review", review.id),
      }),
    },
    context,
  );
}

/**
 * Notifies the owner of the store of a new review.
 * Source: spec "Unsubscriber": comment requests are sent to store owners after a new review. Assumed: imported reviews and
 * those of the synchronous call, which is for development, cause none.
 */
export async function queueCommentRequest(parts: ReviewParts, context: HandlerContext): Promise<void> {
  const { review, product } = parts;
  const accountId = review.account_id;
  const owner = await findOwner(accountId, context);
  if (!owner) return;
  const target = { publicUrl: context.publicUrl, appKey: await readAppKey(context, accountId) };
  const comment_url = seoPageUrl({ ...target, productId: product?.product_id });
  await queueEmail(
    {
      accountId,
      category: "comment_request",
      email: owner.email,
      name: owner.display_name,
      data: () => ({ ...describe(parts), review_id: review.id, comment_url }),
    },
    context,
  );
}

/**
 * Notifies the author of a review of the store's comment.
 * Assumed: there is no email to authors of imported or hidden reviews, or with unverified addresses, nor about a changed
 * comment.
 */
export async function queueCommentNotification(parts: ReviewParts, context: HandlerContext): Promise<void> {
  const { review, author } = parts;
  if (review.published === 0 || review.reviewer_type === "anonymous") return;
  if (await isImported(review.id, context)) return;
  await queueEmail(
    {
      accountId: review.account_id,
      category: "comment_notification",
      email: author.email,
      name: author.display_name,
      data: () => ({ ...describe(parts), comment: review.comment ?? "" }),
    },
    context,
  );
}

async function isImported(reviewId: number, { transaction }: HandlerContext): Promise<boolean> {
  const found = await transaction
    .selectFrom("review_events")
    .select("id")
    .where("review_row", "=", reviewId)
    .where("event", "=", "imported")
    .executeTakeFirst();
  return found !== undefined;
}
