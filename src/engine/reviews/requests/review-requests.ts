import {
  type contract,
  type EmailCategory,
  reviewFormLimits,
  type ReviewRequest,
} from "../../../contract/index.ts";
import type { HandlerContext, Handlers } from "../../kernel/handler.ts";
import { recordClick } from "../../kernel/email-log.ts";
import { findRequested, type Requested } from "./requested-review.ts";
import { readReviewForm, type ReviewFields } from "./review-form.ts";
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
 * What a review request's link shows, and the review that is written there.
 * Assumed: a link works also for who has unsubscribed since, and where the store asks for no more reviews of the product:
 * whoever holds the mail may still answer it.
 */
export const reviewRequestHandlers: Handlers<typeof contract.reviewRequests> = {
  /** Assumed: a link that is too old, or that this service did not make, is told to be gone; it is no error. */
  show: async ({ token }, context) => {
    const found = await findRequested(token, context);
    return { request: found ? describe(found) : gone };
  },

  /**
   * Keeps the review, unless there is one already, or something is wrong with it: both are told.
   * Assumed: one review of a product follows from an order, whichever of its mails the link is of.
   */
  write: async ({ token, ...given }, context) => {
    const found = await findRequested(token, context);
    if (!found) return { request: gone };
    if (found.review) return { request: describe(found) };
    const { fields, read, problems } = readReviewForm(given);
    if (!read) return { request: { ...describe(found), fields, problems } };
    if (found.order === undefined) return { request: asWritten(describe(found), read, context) };
    await keepReview(found, { read, order: found.order }, context);
    const kept = await findRequested(token, context);
    return { request: kept ? describe(kept) : gone };
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

/** What a test mail's reader is shown in place of a review that is kept. */
function asWritten(request: ReviewRequest, read: ReviewFields, { nowMs }: HandlerContext): ReviewRequest {
  const display_name = shortenName(read.display_name);
  const review = { ...read, display_name, verified_buyer: true, created_at: iso(nowMs) };
  return { ...request, state: "done", review };
}

/** Stores the review of the order's customer, whose address is proven: the link came with a mail to it. */
async function keepReview(
  { mail, appKey, product }: Requested,
  { read, order }: { readonly read: ReviewFields; readonly order: NonNullable<Requested["order"]> },
  context: HandlerContext,
): Promise<void> {
  const { id: mailId, accountId, email } = mail;
  const review = {
    sku: product.product_id,
    product_title: product.name,
    product_url: product.url,
    email,
    display_name: read.display_name,
    review_title: read.title,
    review_content: read.content,
    review_score: read.score,
    user_reference: order.userReference,
  };
  const ofAccount = { ...context, account: { id: accountId, appKey } };
  await createReview(review, ofAccount, { orderRow: order.id });
  await recordClick({ accountId, mailId, category: mail.category as EmailCategory }, context);
}
