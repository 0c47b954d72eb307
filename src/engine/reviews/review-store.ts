import type * as z from "zod";
import { actorNames, type contract, imageLimits, type ReviewerType, siteReviewsId } from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { findOrAddProduct, type ProductDescription } from "../products/product-lookup.ts";
import { announceReview } from "./review-announcement.ts";
import { queueCommentNotification } from "./review-emails.ts";
import type { ReviewParts } from "./review-response.ts";
import { findReview } from "./review-parts.ts";
import { findHeldFlood, findHeldText } from "./holds.ts";
import { isPublished, type Moderation, readPublishedReviews, updatePublication } from "./publication.ts";
import { countReview, findRatingTarget, siteTarget } from "./rating-targets.ts";
import { addUnverifiedShopper, findAndRenameShopper, findOrAddShopper, type Person } from "../accounts/shoppers.ts";
import { signClaim } from "../kernel/signed-link.ts";

export type NewReview = z.output<typeof contract.reviews.createNow.input>;

/** Facts about a review beyond its author's input. */
interface ReviewFacts {
  /** The order whose email led to the review, which proves that the author's address is a buyer's. */
  readonly orderRow?: number | undefined;
  /** The reviewer type that a trusted vendor has signed. */
  readonly signedType?: Exclude<ReviewerType, "anonymous"> | undefined;
}

/**
 * Stores a review, and publishes it if nothing prevents it.
 * Source: spec "Reviews". Assumed: a review is published immediately, as anonymous until its author is verified, unless it
 * is held or the account's setting requires more; the store can publish or hide it with a reason. A call with a token of
 * the account is the store's decision.
 */
export async function createReview(
  input: NewReview,
  context: HandlerContext,
  { orderRow, signedType }: ReviewFacts = {},
): Promise<ReviewParts> {
  const { id: accountId } = accountOf(context);
  const isStore = accountOf(context).isStore === true;
  const isByStore = isStore || signedType !== undefined || orderRow !== undefined;
  const productRow = input.sku === siteReviewsId ? null : await findProduct(input, isByStore, context);
  const reviewer_type = orderRow === undefined ? (signedType ?? "anonymous") : buyer;
  const author = await findAuthor(input, { reviewer_type, isProven: orderRow !== undefined }, context);
  const { nowMs, transaction } = context;
  const shelf = productRow === null ? siteTarget(accountId) : await findRatingTarget(productRow, context);
  const isAnonymous = reviewer_type === "anonymous";
  const held = isStore || signedType ? undefined : await findHeldReason(input, { shelf, isAnonymous }, context);
  const moderation = isStore ? "published" : held === undefined ? null : "held";
  const published = isPublished({ moderation, reviewer_type }, await readPublishedReviews(accountId, context));
  const { id } = await transaction
    .insertInto("reviews")
    .values({
      account_id: accountId,
      product_row: productRow,
      user_row: author.id,
      shelf,
      title: input.review_title,
      content: input.review_content,
      score: input.review_score,
      reviewer_type,
      user_reference: input.user_reference || null,
      domain: input.domain || null,
      published: published ? 1 : 0,
      moderation,
      votes_up: 0,
      votes_down: 0,
      comment: null,
      comment_at: null,
      images: 0,
      order_row: orderRow ?? null,
      created_at: nowMs,
      updated_at: nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  if (published) await countReview({ accountId, productRow, score: input.review_score }, 1, context);
  await recordReviewEvent({ id, accountId }, created, context);
  if (held !== undefined)
    await recordReviewEvent({ id, accountId }, { event: "held", by: "SERVICE", reason: held }, context);
  const parts = await findReview(id, { accountId, isPublished: false }, context);
  await announceReview("review_create", parts, context);
  return parts;
}

const buyer = "verified_buyer" satisfies ReviewerType;

function decide(published: boolean): Moderation {
  return published ? "published" : "unpublished";
}

async function findHeldReason(
  input: NewReview,
  { shelf, isAnonymous }: { readonly shelf: string; readonly isAnonymous: boolean },
  context: HandlerContext,
): Promise<string | undefined> {
  return findHeldText(input) ?? (isAnonymous ? findHeldFlood(shelf, context) : undefined);
}

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

function findProduct(input: NewReview, isByStore: boolean, context: HandlerContext): Promise<number> {
  return findOrAddProduct(describeProduct(input), isByStore, context);
}

export function describeProduct(input: NewReview): ProductDescription {
  return {
    product_id: input.sku,
    name: input.product_title,
    url: input.product_url ?? "",
    image_url: input.product_image_url || null,
    description: input.product_description || null,
    product_tags: null,
  };
}

/** Creates the token with which the author can add images. Assumed: it is valid for one hour. */
export function signImageUpload(reviewId: number, context: HandlerContext): string {
  const expiresAtMs = context.nowMs + imageLimits.tokenLifetimeMs;
  return signClaim(
    { kind: "image_upload", id: reviewId, accountId: accountOf(context).id, expiresAtMs },
    context.sealer,
  );
}

/**
 * Publishes or hides a review.
 * Assumed: every call is recorded with its reason, even if it changes nothing, unless it repeats the last event; `by`
 * defaults to MODERATOR.
 */
export async function setPublished(
  { review_id, published, reason, by = actorNames.store }: z.output<typeof contract.reviews.setPublished.input>,
  context: HandlerContext,
): Promise<ReviewParts> {
  const accountId = accountOf(context).id;
  const found = await findReview(review_id, { accountId, isPublished: false }, context);
  const event = { event: published ? "published" : "unpublished", by, reason };
  if (await isLastEvent(review_id, event, context)) return found;
  await recordReviewEvent({ id: review_id, accountId }, event, context);
  const moderation = decide(published);
  await context.transaction.updateTable("reviews").set({ moderation }).where("id", "=", review_id).execute();
  await updatePublication(review_id, context);
  return announceUpdate(review_id, context);
}

/** Whether the event equals the last one in the review's history. */
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
 * Assumed: a review has one comment, which a new one replaces; repeating the same comment changes nothing.
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
  const updated = await announceUpdate(review_id, context);
  if (found.review.comment === null) await queueCommentNotification(updated, context);
  return updated;
}

async function changeReview(
  reviewId: number,
  changes: { comment: string; comment_at: number },
  { transaction, nowMs }: HandlerContext,
): Promise<void> {
  await transaction
    .updateTable("reviews")
    .set({ ...changes, updated_at: nowMs })
    .where("id", "=", reviewId)
    .execute();
}

export async function announceUpdate(reviewId: number, context: HandlerContext): Promise<ReviewParts> {
  const parts = await findReview(reviewId, { isPublished: false }, context);
  await announceReview("review_updated", parts, context);
  return parts;
}

/** An event in a review's history. */
interface ReviewEvent {
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
