import { type contract, type PastReview, ServiceError, unauthorizedMessage } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { listBottomLines, readBottomLine } from "./bottom-lines.ts";
import { type Account, accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { type ImportedReview, storePastReviews } from "./past-reviews.ts";
import { queueCommentRequest, queueVerification } from "./review-emails.ts";
import { type ReviewParts, toDetailedReview, toFullReview, toListedReview } from "./review-response.ts";
import { countReviews, listReviews, listTopReviews } from "./review-list.ts";
import { findImages, findReview } from "./review-parts.ts";
import { stateOf } from "./publication.ts";
import { createReview, type NewReview, setComment, setPublished, signImageUpload } from "./review-store.ts";
import { readSiteWidget, readWidget } from "./review-widget.ts";
import { readSignature, runSignedOnce } from "../accounts/vendor-signature.ts";
import { castVote } from "../kernel/votes.ts";

export const reviewHandlers: Handlers<typeof contract.reviews> = {
  /** Creates a review as anonymous, and queues emails: to the store's owner, and one whose link verifies the author. */
  create: async (input, context) => {
    const signed = await readSignature(input, "create", context);
    return runSignedOnce(signed, "create", context, async () => {
      const parts = await createReview(input, context, { signedType: signed?.reviewerType });
      await queueCommentRequest(parts, context);
      if (!signed) await queueVerification(parts, context);
      return { image_upload_token: signImageUpload(parts.review.id, context) };
    });
  },

  /** Assumed: this sends no emails; the review stays anonymous unless the call is signed. */
  createNow: async (input, context) => {
    const signed = await readSignature(input, "createNow", context);
    return runSignedOnce(signed, "createNow", context, async () => {
      const past = readPast(input, context);
      const signedType = signed?.reviewerType;
      if (!past) return { reviews: await toFullReviews([await createReview(input, context, { signedType })], context) };
      const [stored] = await storePast(
        [{ input, past, reviewer_type: past.reviewer_type ?? signedType ?? "anonymous" }],
        context,
      );
      return stored ?? { reviews: [] };
    });
  },

  listByUser: async (query, context) => {
    const found = await listReviews(query, context);
    return {
      reviews: await toFullReviews(found, context),
      total_reviews: await countReviews(query, context),
    };
  },

  list: async (query, context) => {
    const found = await listReviews(query, context);
    if (query.details !== true) return { reviews: found.map(toListedReview) };
    const images = await findImages(
      found.map(({ review }) => review),
      context,
    );
    const detail = (parts: ReviewParts) =>
      toDetailedReview(parts, images.get(parts.review.id) ?? [], context.publicUrl);
    return { reviews: found.map(detail) };
  },

  bottomLines: listBottomLines,

  bottomLine: async ({ product_id }, context) => ({ bottomline: await readBottomLine(product_id, context) }),

  widget: readWidget,

  siteWidget: readSiteWidget,

  vote: async ({ review_id, vote_type }, context) => {
    const { review } = await findReview(review_id, { isPublished: true }, context);
    const vote = {
      target: "review",
      row: review.id,
      accountId: review.account_id,
      voteType: vote_type,
    } as const;
    return { vote: { id: await castVote(vote, context) } };
  },

  /** Assumed: anyone may read any published review, so the response contains neither an app key nor a full name. */
  get: async ({ review_id }, context) => {
    const parts = await findReview(review_id, { isPublished: true }, context);
    const profile = await readAccountProfile(context, parts.review.account_id);
    const { publicUrl } = context;
    return { review: toFullReview(parts, { ...profile, displayName: profile.publicName }, { publicUrl }) };
  },

  top: async (_input, context) => ({ reviews: await listTopReviews(context) }),

  comment: async (input, context) => {
    const { review } = await setComment(input, context);
    const created_at = new Date(review.comment_at ?? context.nowMs).toISOString();
    return { comment: { id: review.id, content: review.comment ?? "", created_at, comments_avatar: null } };
  },

  setPublished: async (input, context) => {
    const parts = await setPublished(input, context);
    return { review: { ...toListedReview(parts), state: stateOf(parts.review) } };
  },

  history: async ({ review_id }, context) => {
    await findReview(review_id, { accountId: accountOf(context).id, isPublished: false }, context);
    const found = await context.transaction
      .selectFrom("review_events")
      .select(["id", "review_row", "event", "by_name", "reason", "created_at"])
      .where("review_row", "=", review_id)
      .orderBy("id")
      .execute();
    return {
      events: found.map(({ id, review_row, event, by_name, reason, created_at }) => ({
        id,
        review_id: review_row,
        event,
        by: by_name,
        reason,
        created_at: new Date(created_at).toISOString(),
      })),
    };
  },
};

/**
 * Returns the history of an imported review. It is honored only if the caller is the store.
 * Assumed: an invalid utoken is rejected only if the call depends on it.
 * @throws ServiceError `unauthorized`
 */
function readPast({ past }: Pick<NewReview, "past">, context: HandlerContext): PastReview | undefined {
  const { isStore } = accountOf(context);
  if (past === undefined || isStore === undefined) return undefined;
  if (!isStore) throw new ServiceError("unauthorized", unauthorizedMessage);
  return past;
}

/** Stores the past reviews of calls without a signature, which have been accepted by `isPastReview`. */
export async function createPastReviews(inputs: readonly NewReview[], context: HandlerContext) {
  const reviews = inputs.flatMap((input) => {
    const past = readPast(input, context);
    return past ? [{ input, past, reviewer_type: past.reviewer_type ?? ("anonymous" as const) }] : [];
  });
  return storePast(reviews, context);
}

/** Whether a call stores a past review of the store, without a signature that must be checked. */
export function isPastReview({ past, signature }: NewReview, { isStore }: Account): boolean {
  return past !== undefined && isStore === true && !signature;
}

/** @returns the response of each call */
async function storePast(reviews: readonly ImportedReview[], context: HandlerContext) {
  const full = await toFullReviews(await storePastReviews(reviews, context), context);
  return full.map((review) => ({ reviews: [review] }));
}

async function toFullReviews(found: readonly ReviewParts[], context: HandlerContext) {
  const profile = await readAccountProfile(context);
  const { publicUrl } = context;
  const { appKey } = accountOf(context);
  return found.map((parts) => toFullReview(parts, profile, { publicUrl, appKey }));
}
