import {
  type contract,
  type EmailCategory,
  imageLimits,
  isSiteRequest,
  type ReviewFormField,
  reviewFormFields,
  reviewFormLimits,
  type ReviewRequest,
  shortenName,
  siteReviewsId,
} from "../../../contract/index.ts";
import { type HandlerContext, type Handlers, operation } from "../../kernel/handler.ts";
import { collapseSpaces, findTextProblem, normalizeBreaks } from "../../kernel/form-text.ts";
import { recordClick } from "../../kernel/email-log.ts";
import { buyerIndex, hasPurchased } from "../../orders/buyer-lookup.ts";
import { queueReviewEmails } from "../review-emails.ts";
import { createReviews, photoFormUrl, signImageUpload } from "../new-reviews.ts";
import { canProcessPhotos } from "../photo.ts";
import { openProductView } from "../../products/product-view.ts";
import { publicName } from "../../accounts/shoppers.ts";
import { myReviewsUrl } from "../../kernel/slug.ts";
import { iso } from "../../kernel/times.ts";
import type { Row } from "../../../storage/tables.ts";
import { readAccountProfile } from "../../accounts/account-profile.ts";
import { sameAccount, selectAccountRows } from "../../kernel/account-rows.ts";
import { type Claim, readClaim } from "../../kernel/signed-link.ts";

const gone: ReviewRequest = {
  state: "gone",
  is_test: false,
  is_site: false,
  is_unsubscribed: false,
  store_name: "",
  product: null,
  fields: { score: "", title: "", content: "", display_name: "" },
  problems: [],
  review: null,
  photos_url: null,
  my_reviews_url: "",
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
    run: async ({ token, score = "" }, context) => {
      const found = await findRequested(token, context);
      if (!found) return { request: gone };
      const request = describe(found, context);
      return { request: { ...request, fields: { ...request.fields, score } } };
    },
    after: async ({ request }) => ({ request: await checkCodec(request) }),
  }),

  /**
   * Stores the review, unless one already exists or the fields are invalid; the output states both.
   * Assumed: an order leads to at most one review per product, and one of the store, whichever of its emails contains the
   * link. A request to review the store that belongs to no order leads to none if the recipient reviewed the store since.
   */
  write: operation("reviewRequests.write", {
    owner: { claim: "token" },
    before: () => buyerIndex,
    run: async ({ token, ...input }, context) => {
      const found = await findRequested(token, context);
      if (!found) return { request: gone };
      if (found.written.review) return { request: describe(found, context) };
      const { fields, review, problems } = parseReviewForm(input);
      if (!review) return { request: { ...describe(found, context), fields, problems } };
      if (found.order === undefined) return { request: previewReview(describe(found, context), review, context) };
      await storeReview(found, { review, order: found.order }, context);
      const stored = await findRequested(token, context);
      return { request: stored ? describe(stored, context) : gone };
    },
    after: async ({ request }) => ({ request: await checkCodec(request) }),
  }),
};

/** Without the codec, no photo can be added. */
async function checkCodec(request: ReviewRequest): Promise<ReviewRequest> {
  return request.photos_url === null || (await canProcessPhotos()) ? request : { ...request, photos_url: null };
}

function describe(found: Requested, context: HandlerContext): ReviewRequest {
  const { mail, product, written, storeName, knownName } = found;
  const name = (knownName ?? mail.name).slice(0, reviewFormLimits.display_name);
  return {
    ...gone,
    state: written.review ? "done" : "ready",
    is_test: found.order === undefined,
    is_site: isSiteRequest(mail.category),
    is_unsubscribed: found.isUnsubscribed,
    store_name: storeName,
    product: { name: product.name, url: product.url, image_url: product.image_url },
    fields: { ...gone.fields, display_name: name.includes("@") ? "" : name },
    ...written,
    my_reviews_url: myReviewsUrl(found.appKey, context),
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
  const isBuyer = order.id !== null || (await hasPurchased({ accountId, email, productRow: null }, context));
  const reviewerType = isBuyer ? ("verified_buyer" as const) : ("verified_reviewer" as const);
  const created = await createReviews([newReview], accountContext, { request: { orderRow: order.id, reviewerType } });
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
export interface ParsedForm extends Pick<ReviewRequest, "fields" | "problems"> {
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
export function parseReviewForm(input: FormInput): ParsedForm {
  const fields = {
    score: input.score ?? "",
    title: input.title ?? "",
    content: normalizeBreaks(input.content),
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

function validateScore(score: number): string | undefined {
  return Number.isNaN(score) ? requiredMessages.score : undefined;
}

function validateText(field: keyof typeof reviewFormLimits, text: string): string | undefined {
  const [name, required, limit] = [names[field], requiredMessages[field], reviewFormLimits[field]];
  return findTextProblem(text, { name, required, limit });
}

type AccountProfile = Awaited<ReturnType<typeof readAccountProfile>>;
type RequestedProduct = Pick<Row<"products">, "product_id" | "name" | "url" | "image_url">;

/** A review request, with everything needed to display it. */
interface Requested {
  readonly mail: Pick<Row<"mails">, "id" | "category" | "email" | "name"> & { readonly accountId: number };
  readonly appKey: string;
  /** Absent for a test email. The ID is null if the email belongs to no order. */
  readonly order?: { readonly id: number | null; readonly userReference: string | null } | undefined;
  readonly product: RequestedProduct;
  readonly storeName: string;
  readonly isUnsubscribed: boolean;
  /** The recipient's name as a known shopper; otherwise, the name of the order is used. */
  readonly knownName: string | undefined;
  readonly written: Pick<ReviewRequest, "review" | "photos_url">;
}

/** Finds the review request of a link token. Returns undefined if the token is invalid or expired, or if its email or product was deleted. */
async function findRequested(token: string, context: HandlerContext): Promise<Requested | undefined> {
  const claim = readClaim(token, ["write_review"], context);
  const mail = claim && (await findEmail(claim, context));
  if (!mail) return undefined;
  const { order_row: orderRow, user_reference, app_key, unsubscriber, known_name, ...row } = mail;
  const profile = await readAccountProfile(context, claim.accountId);
  const isSite = isSiteRequest(mail.category);
  const isTest = orderRow === null && !isSite;
  const product = isSite ? describeStore(profile) : await findProductOrSample(claim, { isTest, ...mail }, context);
  if (!product) return undefined;
  return {
    mail: { ...row, accountId: claim.accountId },
    appKey: app_key,
    order: isTest ? undefined : { id: orderRow, userReference: user_reference },
    product,
    storeName: profile.displayName,
    isUnsubscribed: unsubscriber !== null,
    knownName: known_name ?? undefined,
    written: isTest ? unwritten : await findWritten(mail, claim, context),
  };
}

/** Describes the store like a product. */
export function describeStore({ displayName, domain }: AccountProfile): RequestedProduct {
  return { product_id: siteReviewsId, name: displayName || "our store", url: domain, image_url: null };
}

function findEmail({ id, accountId }: Claim, { transaction }: HandlerContext) {
  return selectAccountRows("mails", accountId, transaction)
    .innerJoin("accounts", "accounts.id", "mails.account_id")
    .leftJoin("orders", sameAccount("orders.id", "mails.order_row"))
    .leftJoin("unsubscribers", (join) =>
      join
        .onRef("unsubscribers.account_id", "=", "mails.account_id")
        .onRef("unsubscribers.email_type_id", "=", "mails.email_type_id")
        .onRef("unsubscribers.email_key", "=", "mails.email_key"),
    )
    .leftJoin("users", sameAccount("users.email_key", "mails.email_key"))
    .select(["mails.id", "mails.category", "mails.email", "mails.email_key", "mails.name", "mails.data"])
    .select(["mails.order_row", "mails.created_at"])
    .select(["orders.user_reference", "accounts.app_key", "unsubscribers.id as unsubscriber"])
    .select("users.display_name as known_name")
    .where("mails.id", "=", id)
    .executeTakeFirst();
}

async function findProductOrSample(
  { productRow = 0, accountId }: Claim,
  { isTest, data }: { readonly isTest: boolean; readonly data: string },
  { transaction }: HandlerContext,
): Promise<RequestedProduct | undefined> {
  const found = await selectAccountRows("products", accountId, transaction)
    .select(["product_id", "name", "url", "image_url", "named_by_visitor"])
    .where("id", "=", productRow)
    .executeTakeFirst();
  if (found) return (await openProductView([found], accountId, { transaction })).show(found);
  return isTest ? readSample(data) : undefined;
}

function readSample(data: string): RequestedProduct {
  const { products: [product = {}] = [] } = JSON.parse(data) as {
    readonly products?: readonly Partial<RequestedProduct>[];
  };
  const { product_id = "sample", name = "Sample product", url = "", image_url = null } = product;
  return { product_id, name, url, image_url };
}

const unwritten = { review: null, photos_url: null };

/** Finds the review written for the order, or by the recipient since an email without an order, even if it is hidden. */
async function findWritten(
  {
    category,
    order_row,
    email_key,
    created_at: requestedMs,
  }: Pick<Row<"mails">, "category" | "order_row" | "email_key" | "created_at">,
  { productRow = 0, accountId }: Claim,
  context: HandlerContext,
): Promise<Requested["written"]> {
  const reviews = selectAccountRows("reviews", accountId, context.transaction)
    .innerJoin("users", sameAccount("users.id", "reviews.user_row"))
    .select(["reviews.id", "reviews.score", "reviews.title", "reviews.content", "reviews.reviewer_type"])
    .select(["reviews.images", "reviews.created_at", "users.display_name", "users.kind"])
    .where("reviews.product_row", isSiteRequest(category) ? "is" : "=", isSiteRequest(category) ? null : productRow);
  const found = await (
    order_row === null
      ? reviews.where("users.email_key", "=", email_key).where("reviews.created_at", ">=", requestedMs)
      : reviews.where("reviews.order_row", "=", order_row)
  )
    .orderBy("reviews.id")
    .limit(1)
    .executeTakeFirst();
  if (!found) return unwritten;
  const { id, score, title, content, reviewer_type, images, created_at } = found;
  const author = { display_name: publicName(found), verified_buyer: reviewer_type === "verified_buyer" };
  const hasRoom = images < imageLimits.perReview;
  return {
    review: { score, title, content, ...author, created_at: iso(created_at) },
    photos_url: hasRoom ? photoFormUrl(signImageUpload(id, context), context) : null,
  };
}
