import { actorNames, type ReviewerType, unnamedStore } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { sameAccount, selectAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountIdOf, type HandlerContext } from "../kernel/handler.ts";
import type { Row } from "../../storage/tables.ts";
import { hasPurchased } from "../orders/buyer-lookup.ts";
import { recordClick } from "../kernel/email-log.ts";
import { recordReviewEvents } from "./review-rows.ts";
import {
  announceUpdate,
  changeReview,
  decisionOf,
  holdBy,
  readPublicationRules,
  updatePublication,
} from "./publication.ts";
import { reindexReviews } from "./review-index.ts";
import { findHeldText } from "./moderation/holds.ts";
import { findHeldProduct } from "../products/product-view.ts";
import { findRule, isRuleAuthor, toChecked } from "./moderation/rules.ts";
import { findReview } from "./review-parts.ts";
import { verifyAuthor } from "../accounts/shoppers.ts";
import type { Claim, LinkAction } from "../kernel/signed-link.ts";

/** The columns that determine the type of a reviewer. */
type ReviewToVerify = Pick<Row<"reviews">, "id" | "account_id" | "product_row" | "user_row" | "reviewer_type"> &
  Pick<Row<"users">, "email">;

/** Finds the review that a verification link concerns. */
export async function findReviewToVerify(
  { id, accountId, mailId }: Claim,
  context: HandlerContext,
): Promise<LinkAction | undefined> {
  const found = await selectAccountRows("reviews", accountId, context.transaction)
    .innerJoin("users", sameAccount("users.id", "reviews.user_row"))
    .leftJoin("products", sameAccount("products.id", "reviews.product_row"))
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
  return (await readAccountProfile(context, accountId)).displayName || unnamedStore;
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
  await updateRows(
    "reviews",
    { reviewer_type, user_row: await verifyAuthor(review.user_row, accountId, context), updated_at: context.nowMs },
    { account_id: accountId, id: review.id },
    context,
  );
  await reindexReviews({ ids: [review.id] }, accountId, context);
  const verified = { id: review.id, event: "verified", by: actorNames.user, reason: null };
  await recordReviewEvents([verified], accountId, context);
  await applyRules(review.id, context);
  await updatePublication(review.id, context);
  await announceUpdate(review.id, context);
}

/**
 * Applies the rules to a review whose author was verified.
 * Assumed: rules replace decisions of rules and of built-in checks, never those of people; if no rule applies anymore, the
 * decision of a rule no longer counts.
 */
async function applyRules(id: number, context: HandlerContext): Promise<void> {
  const { review, author, product } = await findReview(id, context);
  const { account_id: accountId } = review;
  const decider = review.moderation === null ? undefined : await findDecider(id, context);
  const wasRule = decider !== undefined && isRuleAuthor(decider);
  if (decider !== undefined && !wasRule && review.moderation !== "held") return;
  const { rules } = await readPublicationRules(accountId, context);
  const checked = toChecked(review, author.display_name);
  const rule = findRule(rules, checked);
  const ofProduct = wasRule && product ? await findHeldProduct(product, accountId, context) : undefined;
  const reason = wasRule ? (findHeldText(checked) ?? ofProduct) : undefined;
  const decision = rule ? decisionOf(rule) : reason === undefined ? undefined : holdBy("SERVICE", reason);
  if (decision && (decision.event !== review.moderation || decision.by !== decider)) {
    await recordReviewEvents([{ id, ...decision }], accountId, context);
  }
  if (decision || wasRule) await changeReview(id, { moderation: decision?.event ?? null }, context);
}

/** Finds who made the last decision on a review. */
async function findDecider(id: number, context: HandlerContext): Promise<string | undefined> {
  const found = await selectAccountRows("review_events", accountIdOf(context), context.transaction)
    .select("by_name")
    .where("review_row", "=", id)
    .where("event", "in", ["published", "unpublished", "held", "requeued"])
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return found?.by_name;
}
