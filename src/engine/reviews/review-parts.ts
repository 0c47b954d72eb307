import { sql } from "kysely";
import type { SelectQueryBuilder } from "kysely";
import { ServiceError, recordNotFound } from "../../contract/index.ts";
import { batchOfIds } from "../../storage/batch.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { accountIdOf, accountOf, type HandlerContext } from "../kernel/handler.ts";
import type { Row, Tables } from "../../storage/tables.ts";
import { namedBy, openProductView } from "../products/product-view.ts";
import { linkedUrl } from "./photo-storage.ts";
import type { ReviewImage, ReviewParts } from "./review-response.ts";

type Context = Pick<HandlerContext, "transaction">;

const productColumns = [
  "products.id as product_key",
  "products.product_id",
  "products.name as product_name",
  "products.url as product_url",
  "products.image_url as product_image_url",
  "products.named_by_visitor",
] as const;

/** A query for the IDs of reviews. */
type ReviewIds = SelectQueryBuilder<Tables, "reviews", { readonly id: number }>;

/**
 * Selects reviews of an account with their authors and products. The caller adds the conditions, or `ids`, which are
 * selected first, using only an index.
 */
export function selectReviewParts(accountId: number, { transaction }: Context, ids?: ReviewIds) {
  const reviews = ids
    ? // A cross join, so that SQLite does not read all reviews of the account.
      (transaction
        .selectFrom(ids.as("listed"))
        .crossJoin("reviews")
        .whereRef("reviews.id", "=", "listed.id") as unknown as SelectQueryBuilder<Tables, "reviews", unknown>)
    : transaction.selectFrom("reviews");
  return reviews
    .innerJoin("users", sameAccount("users.id", "reviews.user_row"))
    .leftJoin("products", sameAccount("products.id", "reviews.product_row"))
    .where("reviews.account_id", "=", accountId)
    .selectAll("reviews")
    .select([
      "users.display_name as users_display_name",
      "users.slug as users_slug",
      "users.social_image as users_social_image",
      "users.bio as users_bio",
      "users.score as users_score",
      "users.kind as users_kind",
    ])
    .select(["users.email as users_email", ...productColumns]);
}

type PartsRow = Awaited<ReturnType<ReturnType<typeof selectReviewParts>["execute"]>>[number];

/** Splits a row of `selectReviewParts` into its parts. */
export function toParts(row: PartsRow): ReviewParts {
  const author = {
    id: row.user_row,
    display_name: row.users_display_name,
    slug: row.users_slug,
    social_image: row.users_social_image,
    bio: row.users_bio,
    score: row.users_score,
    kind: row.users_kind,
    email: row.users_email,
  };
  if (row.product_key === null) return { review: row, author };
  return {
    review: row,
    author,
    product: {
      id: row.product_key,
      product_id: row.product_id ?? "",
      name: row.product_name ?? "",
      url: row.product_url ?? "",
      image_url: row.product_image_url,
      named_by_visitor: row.named_by_visitor ?? namedBy.store,
    },
  };
}

/** Shows the products of an account's reviews as everybody but the store sees them. */
export async function showProducts<P extends ReviewParts>(
  found: readonly P[],
  accountId: number,
  context: Context,
): Promise<P[]> {
  const products = found.flatMap(({ product }) => product ?? []);
  const { show } = await openProductView(products, accountId, context);
  return found.map((parts) => Object.assign({}, parts, { product: parts.product && show(parts.product) }));
}

/**
 * Finds a review of the account of the call.
 * @throws ServiceError `recordNotFound`
 */
export async function findReview(reviewId: number, context: HandlerContext): Promise<ReviewParts> {
  const accountId = context.account?.id ?? context.ownerId;
  if (accountId === undefined) throw unknownReview(reviewId);
  const found = await selectReviewParts(accountId, context).where("reviews.id", "=", reviewId).executeTakeFirst();
  if (!found) throw unknownReview(reviewId);
  return toParts(found);
}

/** Reads reviews of the account, in the order of the IDs. */
export async function findReviews(ids: readonly number[], context: HandlerContext): Promise<ReviewParts[]> {
  if (ids.length === 0) return [];
  // PostgreSQL would read all reviews of the account for a list of IDs in the condition.
  const batch = context.transaction.selectFrom(batchOfIds(ids, context.dialect)).select("batch.id");
  const found = await selectReviewParts(accountOf(context).id, context, batch as unknown as ReviewIds).execute();
  const byId = new Map(found.map((row) => [row.id, toParts(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The error for a review that does not exist or is not published. */
export function unknownReview(reviewId: number): ServiceError {
  return recordNotFound("Review", "id", reviewId);
}

/**
 * Whether the photos of a published review are public: its author is confirmed, or the store, a rule of the store, or a
 * signature of a trusted vendor stands for it.
 */
export const showsPhotos = sql<boolean>`(reviews.reviewer_type <> 'anonymous' or reviews.moderation = 'published')`;

export function showsPhotosOf({
  reviewer_type,
  moderation,
}: Pick<Row<"reviews">, "reviewer_type" | "moderation">): boolean {
  return reviewer_type !== "anonymous" || moderation === "published";
}

/** The images of reviews, by review. */
export async function findImages(
  reviews: readonly Pick<Row<"reviews">, "id" | "images">[],
  context: HandlerContext,
): Promise<ReadonlyMap<number, readonly ReviewImage[]>> {
  const ids = reviews.filter(({ images }) => images > 0).map(({ id }) => id);
  const byReview = new Map<number, ReviewImage[]>();
  if (ids.length === 0) return byReview;
  const found = await selectAccountRows("review_images", accountIdOf(context), context.transaction)
    .select(["id", "review_row", "width", "height", "color", "url as source_url", linkedUrl.as("url")])
    .where("review_row", "in", ids)
    .orderBy("id")
    .execute();
  for (const image of found) {
    byReview.set(image.review_row, [...(byReview.get(image.review_row) ?? []), image]);
  }
  return byReview;
}
