import type * as z from "zod";
import {
  actorNames,
  type contract,
  imageLimits,
  type PastReview,
  type ReviewerType,
  siteReviewsId,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { findOrAddProduct } from "../products/product-lookup.ts";
import { announceReview } from "./review-announcement.ts";
import type { ReviewParts } from "./review-response.ts";
import { findReview } from "./review-parts.ts";
import { countReview, findRatingTarget, siteTarget } from "./rating-targets.ts";
import {
  addUnverifiedShopper,
  findOrAddShopper,
  findAndRenameShopper,
  type Person,
} from "../accounts/shoppers.ts";
import { signClaim } from "../kernel/signed-link.ts";
import { readTrustedType } from "../accounts/vendor-signature.ts";
import { recordReviewEvent, type ReviewEvent } from "./review-history.ts";

export type NewReview = z.output<typeof contract.reviews.createNow.input>;

/** What is known of a review beside what its author says. */
interface Known {
  readonly past?: PastReview | undefined;
  /** The order whose mail it was written from: its author's address is proven, and is a buyer's. */
  readonly orderRow?: number | undefined;
}

export interface Created {
  readonly parts: ReviewParts;
  /** A trusted vendor signed for its author. */
  readonly isTrusted: boolean;
}

/**
 * Stores a review and publishes it.
 * Source: spec "Reviews". Assumed: a review is published as soon as it is created, as anonymous until its author is
 * verified; whoever wants it off the pages takes it off, with a reason. One of the past is as the store says, its
 * comment as old as the review; no webhook is told of it, as it is no news.
 */
export async function createReview(
  input: NewReview,
  context: HandlerContext,
  { past, orderRow }: Known = {},
): Promise<Created> {
  const { id: accountId } = accountOf(context);
  const trusted = await readTrustedType(input, context);
  const productRow = input.sku === siteReviewsId ? null : await findProduct(input, context);
  const reviewer_type = orderRow === undefined ? (past?.reviewer_type ?? trusted ?? "anonymous") : buyer;
  const author = await findAuthor(input, { reviewer_type, isProven: orderRow !== undefined }, context);
  const { nowMs, transaction } = context;
  const createdMs = past ? Date.parse(past.created_at) : nowMs;
  const comment = past?.comment ?? null;
  const isPublished = past?.published ?? true;
  const { id } = await transaction
    .insertInto("reviews")
    .values({
      account_id: accountId,
      product_row: productRow,
      user_row: author.id,
      shelf: productRow === null ? siteTarget(accountId) : await findRatingTarget(productRow, context),
      title: input.review_title,
      content: input.review_content,
      score: input.review_score,
      reviewer_type,
      user_reference: input.user_reference || null,
      domain: input.domain || null,
      published: isPublished ? 1 : 0,
      votes_up: 0,
      votes_down: 0,
      comment,
      comment_at: comment === null ? null : createdMs,
      images: 0,
      order_row: orderRow ?? null,
      created_at: createdMs,
      updated_at: nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  if (isPublished) await countReview({ accountId, productRow, score: input.review_score }, 1, context);
  await recordReviewEvent({ id, accountId }, past ? imported : created, context);
  const parts = await findReview(id, { accountId, isPublished: false }, context);
  if (!past) await announceReview("review_create", parts, context);
  return { parts, isTrusted: trusted !== undefined };
}

const buyer = "verified_buyer" satisfies ReviewerType;

async function findAuthor(
  input: NewReview,
  { reviewer_type, isProven }: { readonly reviewer_type: ReviewerType; readonly isProven: boolean },
  context: HandlerContext,
): Promise<Person> {
  const { id } = accountOf(context);
  if (isProven) return findAndRenameShopper(input, id, context);
  return (reviewer_type === "anonymous" ? addUnverifiedShopper : findOrAddShopper)(input, id, context);
}

const created = { event: "created", by: actorNames.user, reason: null } as const;
const imported = { event: "imported", by: actorNames.store, reason: null } as const;

function findProduct(input: NewReview, context: HandlerContext): Promise<number> {
  return findOrAddProduct(
    {
      product_id: input.sku,
      name: input.product_title,
      url: input.product_url ?? "",
      image_url: input.product_image_url || null,
      description: input.product_description || null,
      product_tags: null,
    },
    accountOf(context).id,
    context,
  );
}

/** The token with which the author adds images. Assumed: it works for an hour. */
export function signImageUpload(reviewId: number, context: HandlerContext): string {
  const expiresAtMs = context.nowMs + imageLimits.tokenLifetimeMs;
  return signClaim(
    { kind: "image_upload", id: reviewId, accountId: accountOf(context).id, expiresAtMs },
    context.sealer,
  );
}

/**
 * Publishes a review, or takes it off the pages.
 * Assumed: every call is noted with its reason, also one that changes nothing, but for one that says again what was
 * said last; whoever it is by is MODERATOR where the call does not say.
 */
export async function setPublished(
  {
    review_id,
    published,
    reason,
    by = actorNames.store,
  }: z.output<typeof contract.reviews.setPublished.input>,
  context: HandlerContext,
): Promise<ReviewParts> {
  const accountId = accountOf(context).id;
  const found = await findReview(review_id, { accountId, isPublished: false }, context);
  const { review } = found;
  const event = { event: published ? "published" : "unpublished", by, reason };
  if (await isLastEvent(review_id, event, context)) return found;
  await recordReviewEvent({ id: review_id, accountId }, event, context);
  if ((review.published === 1) !== published) {
    await changeReview(review_id, { published: published ? 1 : 0 }, context);
    const counted = { accountId, productRow: review.product_row, score: review.score };
    await countReview(counted, published ? 1 : -1, context);
  }
  return tellChange(review_id, context);
}

/** Whether the call that says so was made already, and nothing happened since. */
async function isLastEvent(
  reviewId: number,
  { event, by, reason }: ReviewEvent,
  { transaction }: HandlerContext,
): Promise<boolean> {
  const last = await transaction
    .selectFrom("review_events")
    .select(["event", "by_name", "reason"])
    .where("review_row", "=", reviewId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.event === event && last.by_name === by && last.reason === reason;
}

/**
 * Comments on a review as the store.
 * Assumed: a review has one comment, and a new one takes its place; the same one again changes nothing.
 */
export async function setComment(
  { review_id, content }: z.output<typeof contract.reviews.comment.input>,
  context: HandlerContext,
): Promise<ReviewParts> {
  const accountId = accountOf(context).id;
  const found = await findReview(review_id, { accountId, isPublished: false }, context);
  if (found.review.comment === content) return found;
  await recordReviewEvent(
    { id: review_id, accountId },
    { event: "commented", by: actorNames.store, reason: null },
    context,
  );
  await changeReview(review_id, { comment: content, comment_at: context.nowMs }, context);
  return tellChange(review_id, context);
}

async function changeReview(
  reviewId: number,
  changes: { published?: number; comment?: string; comment_at?: number },
  { transaction, nowMs }: HandlerContext,
): Promise<void> {
  await transaction
    .updateTable("reviews")
    .set({ ...changes, updated_at: nowMs })
    .where("id", "=", reviewId)
    .execute();
}

async function tellChange(reviewId: number, context: HandlerContext): Promise<ReviewParts> {
  const parts = await findReview(reviewId, { accountId: accountOf(context).id, isPublished: false }, context);
  await announceReview("review_updated", parts, context);
  return parts;
}
