import { actorNames, type ReviewerType } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { sameAccount, selectAccountRows, updateRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { hasPurchased } from "../orders/buyer-lookup.ts";
import { recordClick } from "../kernel/email-log.ts";
import { recordReviewEvents } from "./review-rows.ts";
import {
  announceUpdate,
  changeReview,
  decisionOf,
  holdBy,
  readPublicationRules,
  type ReviewKey,
  updatePublication,
} from "./publication.ts";
import { reindexReviews } from "./review-index.ts";
import { findHeldText } from "./moderation/holds.ts";
import { findRule, isRuleAuthor, toChecked } from "./moderation/rules.ts";
import { findReview } from "./review-parts.ts";
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
  await updateRows(
    "reviews",
    { reviewer_type, user_row: await verifyAuthor(review.user_row, accountId, context), updated_at: context.nowMs },
    { account_id: accountId, id: review.id },
    context,
  );
  const key = { id: review.id, accountId };
  await reindexReviews({ ids: [review.id] }, accountId, context);
  const verified = { id: review.id, event: "verified", by: actorNames.user, reason: null };
  await recordReviewEvents([verified], accountId, context);
  await applyRules(key, context);
  await updatePublication(key, context);
  await announceUpdate(key, context);
}

/**
 * Applies the rules to a review whose author was verified.
 * Assumed: rules replace decisions of rules and of built-in checks, never those of people; if no rule applies anymore, the
 * decision of a rule no longer counts.
 */
async function applyRules(key: ReviewKey, context: HandlerContext): Promise<void> {
  const { review, author } = await findReview(key.id, { accountId: key.accountId, isPublished: false }, context);
  const decider = review.moderation === null ? undefined : await findDecider(key, context);
  const wasRule = decider !== undefined && isRuleAuthor(decider);
  if (decider !== undefined && !wasRule && review.moderation !== "held") return;
  const { rules } = await readPublicationRules(key.accountId, context);
  const checked = toChecked(review, author.display_name);
  const rule = findRule(rules, checked);
  const reason = wasRule ? findHeldText(checked) : undefined;
  const decision = rule ? decisionOf(rule) : reason === undefined ? undefined : holdBy("SERVICE", reason);
  if (decision && (decision.event !== review.moderation || decision.by !== decider)) {
    await recordReviewEvents([{ id: key.id, ...decision }], key.accountId, context);
  }
  if (decision || wasRule) await changeReview(key, { moderation: decision?.event ?? null }, context);
}

/** Finds who made the last decision on a review. */
async function findDecider({ id, accountId }: ReviewKey, { transaction }: HandlerContext): Promise<string | undefined> {
  const found = await selectAccountRows("review_events", accountId, transaction)
    .select("by_name")
    .where("review_row", "=", id)
    .where("event", "in", ["published", "unpublished", "held", "requeued"])
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return found?.by_name;
}
