import { type contract, type PastReview, ServiceError, unauthorizedMessage } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { buyerIndexForWebhooks } from "../orders/buyer-lookup.ts";
import { listBottomLines, readBottomLine } from "./bottom-lines.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { type Account, accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { commentHandlers } from "./moderation/comments.ts";
import { createReviews, type ImportedReview, signImageUpload, storePastReviews } from "./new-reviews.ts";
import { findPage } from "../kernel/lists/filtered-list.ts";
import { queueHandlers } from "./moderation/queue.ts";
import { queueReviewEmails } from "./review-emails.ts";
import { type ReviewParts, toDetailedReview, toFullReview, toListedReview } from "./review-response.ts";
import { countReviews, listReviews, listTopReviews } from "./review-list.ts";
import { findImages, findReview, findReviews, showProducts, unknownReview } from "./review-parts.ts";
import { planReviewSearch } from "./review-search.ts";
import { setPublished } from "./publication.ts";
import { updateReview } from "./review-update.ts";
import type { NewReview } from "./review-rows.ts";
import { readSiteWidget, readWidget } from "./review-widget.ts";
import { stateOf } from "./review-index.ts";
import { readSignature, runSigned, type SignedType } from "../accounts/vendor-signature.ts";
import { iso } from "../kernel/times.ts";
import { castVotes } from "../kernel/votes.ts";

export const reviewHandlers: Handlers<typeof contract.reviews> = {
  /** Creates a review as anonymous, and queues emails: to the store's owner, and one whose link verifies the author. */
  create: operation("reviews.create", {
    checkSignature: (input, context) => readSignature(input, "create", context),
    before: () => buyerIndexForWebhooks,
    combines: canCombineReviews,
    runMany: (inputs, context) => runSigned("create", inputs, context, submitReviews),
  }),

  /** Assumed: this sends no emails; the review stays anonymous unless the call is signed. */
  createNow: operation("reviews.createNow", {
    checkSignature: (input, context) => readSignature(input, "createNow", context),
    // A past review causes no webhook events.
    before: (input, account) => (account && isPastReview(input, account) ? undefined : buyerIndexForWebhooks),
    combines: canCombineReviews,
    runMany: (inputs, context) => runSigned("createNow", inputs, context, createReviewsNow),
  }),

  listByUser: async (query, context) => {
    const found = await listReviews(query, context);
    return {
      reviews: await toFullReviews(found, context),
      total_reviews: await countReviews(query, context),
    };
  },

  list: async (query, context) => {
    const found = await listReviews(query, context);
    return { reviews: query.details === true ? await toDetailedReviews(found, context) : found.map(toListedReview) };
  },

  /** Assumed: the list is sorted by creation time, with `search` by ID; authors are found by any spelling of their address. */
  search: async (query, context) => {
    const { ids, pagination } = await findPage(await planReviewSearch(query, context), query, context);
    const found = await findReviews(ids, context);
    return { reviews: await toDetailedReviews(found, context), pagination };
  },

  bottomLines: listBottomLines,

  bottomLine: async ({ product_id }, context) => ({ bottomline: await readBottomLine(product_id, context) }),

  widget: readWidget,

  siteWidget: readSiteWidget,

  vote: operation("reviews.vote", {
    owner: { kind: "review", field: "review_id" },
    runMany: (inputs, context) => {
      const votes = inputs.map(({ review_id, vote_type }) => ({ row: review_id, voteType: vote_type }));
      return castVotes("review", votes, context);
    },
  }),

  /** Assumed: anyone may read any published review, so the response contains neither an app key nor a full name. */
  get: operation("reviews.get", {
    owner: { kind: "review", field: "review_id" },
    run: async ({ review_id }, context) => {
      const parts = await findReview(review_id, context);
      if (parts.review.published === 0) throw unknownReview(review_id);
      const profile = await readAccountProfile(context, parts.review.account_id);
      const { publicUrl } = context;
      const [shown = parts] = await showProducts([parts], parts.review.account_id, context);
      return { review: toFullReview(shown, profile, { publicUrl }) };
    },
  }),

  top: async (_input, context) => ({ reviews: await listTopReviews(context) }),

  ...commentHandlers,
  ...queueHandlers,

  update: operation("reviews.update", {
    before: () => buyerIndexForWebhooks,
    run: async (input, context) => {
      const { parts, ...outcome } = await updateReview(input, context);
      return { review: { ...toListedReview(parts), state: stateOf(parts.review) }, ...outcome };
    },
  }),

  setPublished: operation("reviews.setPublished", {
    before: () => buyerIndexForWebhooks,
    run: async (input, context) => {
      const parts = await setPublished(input, context);
      return { review: { ...toListedReview(parts), state: stateOf(parts.review) } };
    },
  }),

  history: async ({ review_id }, context) => {
    await findReview(review_id, context);
    const found = await selectAccountRows("review_events", accountOf(context).id, context.transaction)
      .select(["id", "review_row as review_id", "event", "by_name as by", "reason", "previous", "created_at"])
      .where("review_row", "=", review_id)
      .orderBy("id")
      .execute();
    return {
      events: found.map(({ previous, created_at, ...event }) => {
        const content = previous !== null && { previous_content: previous };
        return Object.assign(event, { created_at: iso(created_at) }, content);
      }),
    };
  },
};

/** Stores reviews, and queues the emails about them. */
export async function submitReviews(inputs: readonly NewReview[], context: HandlerContext, signedType?: SignedType) {
  const created = await createReviews(inputs, context, { signedType });
  await queueReviewEmails(created, { isVerified: signedType !== undefined }, context);
  return created.map(({ review }) => ({ image_upload_token: signImageUpload(review.id, context) }));
}

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

/** Whether a call stores a past review of the store, without a signature that must be checked. */
function isPastReview({ past, signature }: NewReview, { isStore }: Account): boolean {
  return past !== undefined && isStore === true && !signature;
}

/** Whether calls that create reviews need no check of a signature or of a token. */
function canCombineReviews({ past, signature }: NewReview, account: Account | undefined): boolean {
  return !signature && (past === undefined || account?.isStore !== false);
}

/** Stores reviews of buyers, and past reviews of the store. */
async function createReviewsNow(inputs: readonly NewReview[], context: HandlerContext, signedType?: SignedType) {
  const past = inputs.map((input) => readPast(input, context));
  const isNew = inputs.filter((_, at) => past[at] === undefined);
  const imported = inputs.flatMap((input, at): ImportedReview[] => {
    const found = past[at];
    return found ? [{ input, past: found, reviewer_type: found.reviewer_type ?? signedType ?? "anonymous" }] : [];
  });
  const created = await createReviews(isNew, context, { signedType });
  const responses = await toResponses([...created, ...(await storePastReviews(imported, context))], context);
  let next = 0;
  let nextPast = created.length;
  return past.map((each) => responses[each ? nextPast++ : next++] ?? { reviews: [] });
}

/** @returns the response of each call */
async function toResponses(reviews: readonly ReviewParts[], context: HandlerContext) {
  return (await toFullReviews(reviews, context)).map((review) => ({ reviews: [review] }));
}

async function toDetailedReviews(found: readonly ReviewParts[], context: HandlerContext) {
  const images = await findImages(
    found.map(({ review }) => review),
    context,
  );
  return found.map((parts) => toDetailedReview(parts, images.get(parts.review.id) ?? [], context.publicUrl));
}

async function toFullReviews(found: readonly ReviewParts[], context: HandlerContext) {
  const profile = await readAccountProfile(context);
  const { publicUrl } = context;
  const { id, appKey } = accountOf(context);
  const shown = await showProducts(found, id, context);
  return shown.map((parts) => toFullReview(parts, profile, { publicUrl, appKey }));
}
