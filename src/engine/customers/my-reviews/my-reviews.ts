import type * as z from "zod";
import {
  actorNames,
  type contract,
  isEmail,
  maxEmailLength,
  type MyReviewsPage,
  reviewFormLimits,
  type ReviewRequest,
} from "../../../contract/index.ts";
import { findOwner, readAccountProfile } from "../../accounts/account-profile.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../../kernel/handler.ts";
import { findTextProblem, normalizeBreaks } from "../../kernel/form-text.ts";
import { queueEmail, withdrawEmails } from "../../kernel/outbox.ts";
import { isCurrent, openClaim } from "../../kernel/signed-link.ts";
import { myReviewsUrl } from "../../kernel/slug.ts";
import { buyerIndex } from "../../orders/buyer-lookup.ts";
import { editQuestion } from "../../questions/questions.ts";
import { deleteQuestion } from "../../questions/question-moderation.ts";
import { deleteImage, editReview } from "../../reviews/author-changes.ts";
import { canProcessPhotos } from "../../reviews/photo.ts";
import { parseReviewForm } from "../../reviews/requests/review-requests.ts";
import { announceReviews } from "../../reviews/review-emails.ts";
import { findReview } from "../../reviews/review-parts.ts";
import { deleteReviews, eraseImages } from "../erase-texts.ts";
import { findImage, findWriter, readOwnQuestions, readOwnReviews, type Writer } from "./writings.ts";

const gone: MyReviewsPage = {
  state: "gone",
  store_name: "",
  outcome: null,
  reviews: [],
  questions: [],
  photo_id: null,
  fields: { score: "", title: "", content: "", display_name: "" },
  problems: [],
  request_url: null,
};

export const myReviewHandlers: Handlers<typeof contract.myReviews> = {
  /** Assumed: an expired or invalid link has the state `gone`; it is not an error. */
  show: operation("myReviews.show", {
    owner: { claim: "token" },
    run: async ({ token, ...target }, context) => {
      const { page, link } = await openLink(token, context);
      return { page: link ? await showTarget(target, link) : page };
    },
    after: async ({ page }) => ({ page: await checkCodec(page) }),
  }),

  /**
   * Edits or deletes what the call names.
   * Assumed: what is somebody else's, or was deleted before, is reported as `missing`.
   */
  change: operation("myReviews.change", {
    owner: { claim: "token" },
    before: () => buyerIndex,
    run: async ({ token, score, title, content, ...target }, context) => {
      const { page, link } = await openLink(token, context);
      if (!link) return { page };
      const shown = await showTarget(target, link);
      if (shown.state === "edit") return { page: await edit(shown, { score, title, content }, link) };
      if (shown.state !== "delete") return { page: shown };
      await deleteShown(shown, link.context);
      return { page: await showList(link, "deleted") };
    },
    after: async ({ page }) => ({ page: await checkCodec(page) }),
  }),

  form: async (_input, context) => ({
    request: { store_name: (await readAccountProfile(context)).displayName, email: "", state: "ready" },
  }),

  /**
   * Queues the email with the link. A rule checks when the email is due whether the address has written anything, so that
   * neither the response nor its duration shows it.
   */
  request: async ({ email }, context) => {
    const { id: accountId, displayName: store_name } = await readAccountProfile(context);
    const address = email.trim();
    if (!isEmail(address) || address.length > maxEmailLength)
      return { request: { store_name, email, state: "invalid" } };
    await queueEmail({ accountId, category: "my_reviews", email: address, name: "", data: () => ({}) }, context);
    return { request: { store_name, email, state: "sent" } };
  },
};

/** Without the codec, no photo can be added. */
async function checkCodec(page: MyReviewsPage): Promise<MyReviewsPage> {
  if (page.reviews.every(({ photos_url }) => photos_url === null) || (await canProcessPhotos())) return page;
  return { ...page, reviews: page.reviews.map((review) => ({ ...review, photos_url: null })) };
}

/** A valid link: whose it is, and the context of its account. */
interface Link {
  readonly writer: Writer;
  readonly context: HandlerContext;
  /** An empty list. */
  readonly page: MyReviewsPage;
}

/** Opens the link of a token. Without a link, the page explains that it is gone. */
async function openLink(
  token: string,
  context: HandlerContext,
): Promise<Pick<Link, "page"> & { readonly link?: Link }> {
  const claim = openClaim(token, ["my_reviews"], context.sealer);
  if (claim?.person === undefined || claim.accountId !== context.ownerId) return { page: gone };
  const { accountId } = claim;
  const { appKey, displayName: store_name } = await readAccountProfile(context, accountId);
  const page = { ...gone, store_name, request_url: myReviewsUrl(appKey, context) };
  if (!isCurrent(claim, context.nowMs)) return { page };
  const ofAccount = { ...context, account: { id: accountId, appKey } };
  const writer = await findWriter(claim.person, ofAccount);
  const list = { ...page, state: "list" as const };
  return { page: list, link: { writer, context: ofAccount, page: list } };
}

async function showList(
  { writer, context, page }: Link,
  outcome: MyReviewsPage["outcome"] = null,
): Promise<MyReviewsPage> {
  const reviews = await readOwnReviews(writer, context);
  return { ...page, outcome, reviews, questions: await readOwnQuestions(writer, context) };
}

type Target = Omit<z.output<typeof contract.myReviews.show.input>, "token">;

/** Shows the page that edits or deletes what a call names; without a name, or a record of the person, everything. */
async function showTarget({ photo, action = "edit", ...target }: Target, link: Link): Promise<MyReviewsPage> {
  const { writer, context, page } = link;
  const image = photo === undefined ? undefined : await findImage(photo, context);
  const review = photo === undefined ? target.review : image?.review_row;
  const question = photo === undefined && review === undefined ? target.question : undefined;
  if (photo === undefined && review === undefined && question === undefined) return showList(link);
  const reviews = review === undefined ? [] : await readOwnReviews(writer, context, review);
  const questions = question === undefined ? [] : await readOwnQuestions(writer, context, question);
  const [shown = questions[0]] = reviews;
  if (!shown) return showList(link, "missing");
  const { content } = shown;
  const rated = "score" in shown ? { score: String(shown.score), title: shown.title } : {};
  const fields = { ...gone.fields, content, ...rated };
  const state = photo === undefined ? action : "delete";
  return { ...page, state, reviews, questions, photo_id: photo ?? null, fields };
}

type Typed = Pick<z.output<typeof contract.myReviews.change.input>, "score" | "title" | "content">;

/** Saves the submitted fields, or reports what is wrong with them. */
async function edit(shown: MyReviewsPage, typed: Typed, link: Link): Promise<MyReviewsPage> {
  const { writer, context } = link;
  const [review] = shown.reviews;
  // The name applies to everything that the author has written, so it is not part of one review.
  const parsed = review ? parseReviewForm({ ...typed, display_name: "-" }) : parseQuestion(typed);
  const fields = { ...parsed.fields, display_name: "" };
  if (parsed.problems.length > 0) return { ...shown, fields, problems: parsed.problems };
  if (!review) {
    const [question] = shown.questions;
    if (question) await editQuestion(question.id, parsed.fields.content.trim(), context);
    return showList(link, "saved");
  }
  if (parsed.review) await editReview(review.id, parsed.review, context);
  const [saved] = await readOwnReviews(writer, context, review.id);
  return showList(link, saved?.state === "waiting" ? "waiting" : "saved");
}

function parseQuestion(typed: Typed): Pick<ReturnType<typeof parseReviewForm>, "fields" | "problems" | "review"> {
  const content = normalizeBreaks(typed.content);
  const texts = { name: "The question", required: "Write your question.", limit: reviewFormLimits.content };
  const error = findTextProblem(content.trim(), texts);
  const problems: ReviewRequest["problems"] = error === undefined ? [] : [{ field: "content", error }];
  return { fields: { ...gone.fields, content }, problems };
}

async function deleteShown(
  { photo_id, reviews: [review], questions: [question] }: MyReviewsPage,
  context: HandlerContext,
) {
  if (photo_id !== null) {
    const image = await findImage(photo_id, context);
    if (image) await deleteImage(image, context);
  } else if (review) await deleteReview(review.id, context);
  else if (question) await deleteQuestion({ question_id: question.id, by: actorNames.user }, context);
}

/**
 * Deletes a review with everything that belongs to it, as an erasure does. Webhooks learn that it is no longer public.
 */
async function deleteReview(id: number, context: HandlerContext): Promise<void> {
  const { id: accountId } = accountOf(context);
  const parts = await findReview(id, context);
  if (parts.review.published === 1) await announceReviews("review_hidden", [parts], context);
  const owner = await findOwner(accountId, context);
  await withdrawEmails(
    {
      accountId,
      recipients: [parts.author.email, ...(owner ? [owner.email] : [])],
      categories: ["comment_request", "comment_notification"],
      record: ["review_id", id],
      texts: ["title", "content", "comment"],
    },
    context,
  );
  const deleted = { person: { accountId }, reviews: [id] };
  await eraseImages(deleted, context);
  await deleteReviews(deleted, context);
}
