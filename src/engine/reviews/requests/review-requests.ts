import {
  type contract,
  type EmailCategory,
  reviewFormLimits,
  type ReviewRequest,
} from "../../../contract/index.ts";
import type { HandlerContext, Handlers } from "../../kernel/handler.ts";
import { recordClick } from "../../kernel/email-log.ts";
import { findRequested, type Requested } from "./requested-review.ts";
import { parseReviewForm, type ReviewFields } from "./review-form.ts";
import { createReview } from "../review-store.ts";
import { shortenName } from "../../accounts/shoppers.ts";
import { iso } from "../../kernel/times.ts";

const gone: ReviewRequest = {
  state: "gone",
  is_test: false,
  is_unsubscribed: false,
  store_name: "",
  product: null,
  fields: { score: "", title: "", content: "", display_name: "" },
  problems: [],
  review: null,
};

/**
 * Shows the review request of a link, and stores the review written for it.
 * Assumed: a link works even if its recipient has since unsubscribed, or the store no longer requests reviews for the
 * product: whoever holds the email may still answer it.
 */
export const reviewRequestHandlers: Handlers<typeof contract.reviewRequests> = {
  /** Assumed: an expired or invalid link has the state `gone`; it is not an error. */
  show: async ({ token }, context) => {
    const found = await findRequested(token, context);
    return { request: found ? describe(found) : gone };
  },

  /**
   * Stores the review, unless one already exists or the fields are invalid; the output states both.
   * Assumed: an order leads to at most one review per product, whichever of its emails contains the link.
   */
  write: async ({ token, ...input }, context) => {
    const found = await findRequested(token, context);
    if (!found) return { request: gone };
    if (found.review) return { request: describe(found) };
    const { fields, review, problems } = parseReviewForm(input);
    if (!review) return { request: { ...describe(found), fields, problems } };
    if (found.order === undefined) return { request: previewReview(describe(found), review, context) };
    await storeReview(found, { review, order: found.order }, context);
    const stored = await findRequested(token, context);
    return { request: stored ? describe(stored) : gone };
  },
};

function describe(found: Requested): ReviewRequest {
  const { mail, product, review, storeName, knownName } = found;
  const name = (knownName ?? mail.name).slice(0, reviewFormLimits.display_name);
  return {
    ...gone,
    state: review ? "done" : "ready",
    is_test: found.order === undefined,
    is_unsubscribed: found.isUnsubscribed,
    store_name: storeName,
    product: { name: product.name, url: product.url, image_url: product.image_url },
    fields: { ...gone.fields, display_name: name.includes("@") ? "" : name },
    review,
  };
}

/** Shows the review of a test email's recipient as if it had been stored. */
function previewReview(
  request: ReviewRequest,
  review: ReviewFields,
  { nowMs }: HandlerContext,
): ReviewRequest {
  const display_name = shortenName(review.display_name);
  const shown = { ...review, display_name, verified_buyer: true, created_at: iso(nowMs) };
  return { ...request, state: "done", review: shown };
}

/** Stores the review of the order's customer. Their address is verified, because the link was sent to it. */
async function storeReview(
  { mail, appKey, product }: Requested,
  { review, order }: { readonly review: ReviewFields; readonly order: NonNullable<Requested["order"]> },
  context: HandlerContext,
): Promise<void> {
  const { id: mailId, accountId, email } = mail;
  const newReview = {
    sku: product.product_id,
    product_title: product.name,
    product_url: product.url,
    email,
    display_name: review.display_name,
    review_title: review.title,
    review_content: review.content,
    review_score: review.score,
    user_reference: order.userReference,
  };
  const accountContext = { ...context, account: { id: accountId, appKey } };
  await createReview(newReview, accountContext, { orderRow: order.id });
  await recordClick({ accountId, mailId, category: mail.category as EmailCategory }, context);
}
