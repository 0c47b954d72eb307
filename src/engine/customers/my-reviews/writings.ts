import {
  imageLimits,
  myReviewsLimit,
  type OwnQuestion,
  type OwnReview,
  type OwnState,
} from "../../../contract/index.ts";
import { findRow, findRows, sameAccount, selectAccountRows } from "../../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { iso } from "../../kernel/times.ts";
import { openProductView } from "../../products/product-view.ts";
import { photoFormUrl, signImageUpload } from "../../reviews/new-reviews.ts";
import { stateOf } from "../../reviews/review-index.ts";
import { findImages, selectReviewParts, showProducts, toParts } from "../../reviews/review-parts.ts";
import { formatImageUrls } from "../../reviews/review-response.ts";

/** The identities whose address is confirmed, by row ID, of the person whom a link belongs to. */
export type Writer = readonly number[];

/**
 * Finds the person with an address.
 * Assumed: reviews and questions belong to the address with which they were confirmed, or to which an email asked for them; what
 * somebody has written with an address that is not confirmed is nobody's.
 */
export async function findWriter(key: string, context: HandlerContext): Promise<Writer> {
  const users = await findRows("users", ["id"], { kind: "shopper", email_key: key }, context);
  return users.map(({ id }) => id);
}

/** Reads the newest reviews of a person, or one of them. */
export async function readOwnReviews(writer: Writer, context: HandlerContext, id?: number): Promise<OwnReview[]> {
  if (writer.length === 0) return [];
  const { id: accountId } = accountOf(context);
  const own = selectReviewParts(accountId, context).where("reviews.user_row", "in", writer);
  const rows = await (id === undefined ? own : own.where("reviews.id", "=", id))
    .orderBy("reviews.id", "desc")
    .limit(myReviewsLimit)
    .execute();
  const found = await showProducts(rows.map(toParts), accountId, context);
  const images = await findImages(rows, context);
  return found.map(({ review, product }) => ({
    id: review.id,
    product: product ? { name: product.name, url: product.url } : null,
    score: review.score,
    title: review.title,
    content: review.content,
    state: stateOfReview(stateOf(review)),
    comment: review.comment,
    photos: (images.get(review.id) ?? []).map((image) =>
      Object.assign({ id: image.id }, formatImageUrls(image, context.publicUrl)),
    ),
    photos_url:
      review.images < imageLimits.perReview ? photoFormUrl(signImageUpload(review.id, context), context) : null,
    created_at: iso(review.created_at),
  }));
}

function stateOfReview(state: ReturnType<typeof stateOf>): OwnState {
  if (state === "published") return "public";
  return state === "unpublished" ? "hidden" : "waiting";
}

/** Reads the newest questions of a person, or one of them. */
export async function readOwnQuestions(writer: Writer, context: HandlerContext, id?: number): Promise<OwnQuestion[]> {
  if (writer.length === 0) return [];
  const { id: accountId } = accountOf(context);
  const own = selectAccountRows("questions", accountId, context.transaction)
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .select(["questions.id", "questions.content", "questions.state", "questions.created_at"])
    .select(["products.product_id", "products.name", "products.url", "products.image_url", "products.named_by_visitor"])
    .select((eb) =>
      eb
        .selectFrom("answers")
        .select(({ fn }) => fn.countAll<number | bigint>().as("answers"))
        .where("answers.account_id", "=", accountId)
        .where("answers.published", "=", 1)
        .whereRef("answers.question_row", "=", "questions.id")
        .as("answers"),
    )
    .where("questions.user_row", "in", writer);
  const rows = await (id === undefined ? own : own.where("questions.id", "=", id))
    .orderBy("questions.id", "desc")
    .limit(myReviewsLimit)
    .execute();
  const { show } = await openProductView(rows, accountId, context);
  return rows.map(show).map(({ id: questionId, name, url, content, state, answers, created_at }) => ({
    id: questionId,
    product: { name, url },
    content,
    state: state === "public" || state === "hidden" ? state : "waiting",
    answers: Number(answers ?? 0),
    created_at: iso(created_at),
  }));
}

/** Finds an image with its review. */
export async function findImage(id: number, context: HandlerContext) {
  return findRow("review_images", ["id", "review_row", "photo_size", "thumb_size"], { id }, context);
}
