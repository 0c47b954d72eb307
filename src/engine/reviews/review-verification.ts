import { actorNames, type ReviewerType } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { hasPurchased } from "../orders/buyer-lookup.ts";
import { recordClick } from "../kernel/email-log.ts";
import { announceUpdate, recordReviewEvent } from "./review-store.ts";
import { updatePublication } from "./publication.ts";
import { verifyAuthor } from "../accounts/shoppers.ts";
import type { Claim, LinkAction } from "../kernel/signed-link.ts";

/** The columns that determine the type of a reviewer. */
interface ReviewToVerify {
  readonly id: number;
  readonly account_id: number;
  /** Null for a review of the store. */
  readonly product_row: number | null;
  readonly user_row: number;
  readonly reviewer_type: string;
  /** The author's email address, as submitted. */
  readonly email: string;
}

/** Finds the review that a verification link concerns. */
export async function findReviewToVerify(
  { id, accountId, mailId }: Claim,
  context: HandlerContext,
): Promise<LinkAction | undefined> {
  const found = await context.transaction
    .selectFrom("reviews")
    .innerJoin("users", "users.id", "reviews.user_row")
    .leftJoin("products", "products.id", "reviews.product_row")
    .select([
      "reviews.id",
      "reviews.account_id",
      "reviews.product_row",
      "reviews.user_row",
      "reviews.reviewer_type",
      "reviews.title",
      "users.email",
      "products.name",
    ])
    .where("reviews.id", "=", id)
    .where("reviews.account_id", "=", accountId)
    .executeTakeFirst();
  if (!found) return undefined;
  return {
    state: found.reviewer_type === "anonymous" ? "ready" : "done",
    about: found.name ?? (await readStoreName(accountId, context)),
    detail: found.title,
    follow: async () => {
      await verifyReview(found, context);
      await recordClick({ accountId, mailId, category: "anonymous_testimonials_request" }, context);
    },
  };
}

async function readStoreName(accountId: number, context: HandlerContext): Promise<string> {
  return (await readAccountProfile(context, accountId)).displayName || "the store";
}

/**
 * Marks the author of a review as a buyer of the product, or else as a verified reviewer, once their address is verified.
 * Does nothing if the author is already verified.
 * Source: practice of services of this kind. Assumed: for a review of the store, any purchase makes the author a buyer.
 */
async function verifyReview(review: ReviewToVerify, context: HandlerContext): Promise<void> {
  if (review.reviewer_type !== "anonymous") return;
  const { account_id: accountId, email, product_row: productRow } = review;
  const isBuyer = await hasPurchased({ accountId, email, productRow }, context);
  const reviewer_type: ReviewerType = isBuyer ? "verified_buyer" : "verified_reviewer";
  await context.transaction
    .updateTable("reviews")
    .set({
      reviewer_type,
      user_row: await verifyAuthor(review.user_row, accountId, context),
      updated_at: context.nowMs,
    })
    .where("id", "=", review.id)
    .execute();
  await updatePublication(review.id, context);
  await recordReviewEvent(
    { id: review.id, accountId },
    { event: "verified", by: actorNames.user, reason: null },
    context,
  );
  await announceUpdate(review.id, context);
}
