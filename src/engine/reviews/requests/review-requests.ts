import {
  type contract,
  type EmailCategory,
  type ReviewFormField,
  reviewFormFields,
  reviewFormLimits,
  type ReviewRequest,
} from "../../../contract/index.ts";
import { type HandlerContext, type Handlers, operation } from "../../kernel/handler.ts";
import { recordClick } from "../../kernel/email-log.ts";
import { findRequested, type Requested } from "./requested-review.ts";
import { queueReviewEmails } from "../review-emails.ts";
import { createReviews } from "../new-reviews.ts";
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
 * product: anyone who has the email may still answer it.
 */
export const reviewRequestHandlers: Handlers<typeof contract.reviewRequests> = {
  /** Assumed: an expired or invalid link has the state `gone`; it is not an error. */
  show: operation("reviewRequests.show", {
    owner: { claim: "token" },
    run: async ({ token }, context) => {
      const found = await findRequested(token, context);
      return { request: found ? describe(found) : gone };
    },
  }),

  /**
   * Stores the review, unless one already exists or the fields are invalid; the output states both.
   * Assumed: an order leads to at most one review per product, whichever of its emails contains the link.
   */
  write: operation("reviewRequests.write", {
    owner: { claim: "token" },
    run: async ({ token, ...input }, context) => {
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
  }),
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
function previewReview(request: ReviewRequest, review: ReviewFields, { nowMs }: HandlerContext): ReviewRequest {
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
  const created = await createReviews([newReview], accountContext, { orderRow: order.id });
  await queueReviewEmails(created, { isVerified: true }, accountContext);
  await recordClick({ accountId, mailId, category: mail.category as EmailCategory }, context);
}

type FormInput = Readonly<Partial<Record<ReviewFormField, string>>>;

/** A valid review from the form. */
interface ReviewFields {
  readonly score: number;
  readonly title: string;
  readonly content: string;
  readonly display_name: string;
}

/** A submitted form: the fields as submitted, and either the parsed review or errors. */
interface ParsedForm extends Pick<ReviewRequest, "fields" | "problems"> {
  /** Absent if there are problems. */
  readonly review?: ReviewFields;
}

const requiredMessages: Readonly<Record<ReviewFormField, string>> = {
  score: "Choose how many stars you give, from 1 to 5.",
  title: "Write a title: your review in a few words.",
  content: "Write your review.",
  display_name: "Write the name to show with your review.",
};

const names: Readonly<Record<keyof typeof reviewFormLimits, string>> = {
  title: "The title",
  content: "The review",
  display_name: "The name",
};

/**
 * Parses and validates the submitted form.
 * Assumed: all four fields are required, as in the operations that create reviews; texts are trimmed; white space in
 * titles and names is collapsed; line breaks count as one character, as in browsers.
 */
function parseReviewForm(input: FormInput): ParsedForm {
  const fields = {
    score: input.score ?? "",
    title: input.title ?? "",
    content: (input.content ?? "").replaceAll(/\r\n?/g, "\n"),
    display_name: input.display_name ?? "",
  };
  const review = {
    score: /^[1-5]$/.test(fields.score) ? Number(fields.score) : Number.NaN,
    title: collapseSpaces(fields.title),
    content: fields.content.trim(),
    display_name: collapseSpaces(fields.display_name),
  };
  const problems = reviewFormFields.flatMap((field) => {
    const error = field === "score" ? validateScore(review.score) : validateText(field, review[field]);
    return error === undefined ? [] : [{ field, error }];
  });
  return problems.length > 0 ? { fields, problems } : { fields, problems, review };
}

function collapseSpaces(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

function validateScore(score: number): string | undefined {
  return Number.isNaN(score) ? requiredMessages.score : undefined;
}

function validateText(field: keyof typeof reviewFormLimits, text: string): string | undefined {
  // Text that consists only of invisible characters counts as empty.
  if (!/[^\s\p{C}]/u.test(text)) return requiredMessages[field];
  if (!text.isWellFormed() || text.includes("\u0000")) {
    return `${names[field]} contains a character that cannot be stored. Remove it and try again.`;
  }
  const limit = reviewFormLimits[field];
  if (text.length <= limit) return undefined;
  return `${names[field]} is longer than ${limit.toLocaleString("en-GB")} characters; it has ${text.length.toLocaleString("en-GB")}.`;
}
