import type { ReviewState } from "../../contract/index.ts";
import { indexTexts } from "../../storage/search-index.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { listPositionTags } from "../kernel/lists/search-tags.ts";
import type { Row } from "../../storage/tables.ts";
import type { HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect">;

const columns = [
  "id",
  "title",
  "content",
  "product_row",
  "score",
  "images",
  "comment",
  "published",
  "moderation",
  "created_at",
] as const satisfies readonly (keyof Row<"reviews">)[];

type Review = Pick<Row<"reviews">, (typeof columns)[number]>;

/** What a review is found by. */
interface Searched {
  readonly review: Review;
  readonly author: Pick<Row<"users">, "display_name">;
}

export function stateOf({ moderation, published }: Pick<Review, "moderation" | "published">): ReviewState {
  if (published === 1) return "published";
  return moderation === "held" || moderation === "unpublished" ? moderation : "pending";
}

/** The tags that stand for values of filters. Most reviews are published, so those have no tag of their state. */
export const reviewTags = {
  /** @param row null for the reviews of the store */
  product: (row: number | null) => `p${row ?? ""}`,
  score: (score: number) => `s${score}`,
  state: (state: ReviewState) => `t${state}`,
  withImages: "i",
  unanswered: "u",
} as const;

function tagsOf(review: Review): readonly string[] {
  const state = stateOf(review);
  return [
    ...listPositionTags({ id: review.id, createdMs: review.created_at }),
    reviewTags.product(review.product_row),
    reviewTags.score(review.score),
    ...(review.images > 0 ? [reviewTags.withImages] : []),
    ...(review.comment === null ? [reviewTags.unanswered] : []),
    ...(state === "published" ? [] : [reviewTags.state(state)]),
  ];
}

/** Makes reviews searchable. To be called whenever title, content, or author have changed. */
export function indexReviews(reviews: readonly Searched[], accountId: number, context: Context): Promise<void> {
  const records = reviews.map(({ review, author }) => ({
    id: review.id,
    texts: [review.title, review.content, author.display_name],
    tags: tagsOf(review),
  }));
  return indexTexts("review_words", records, accountId, { db: context.transaction, dialect: context.dialect });
}

/** Updates the tags of reviews. To be called whenever a filter's column has changed. */
export async function refreshTags(ids: readonly number[], accountId: number, context: Context): Promise<void> {
  if (context.dialect.textSearch.hasTags) await reindexReviews({ ids }, accountId, context);
}

/** Updates the words of reviews of the account, or of all reviews of some authors, from what is stored. */
export async function reindexReviews(
  { ids, authors }: { readonly ids?: readonly number[]; readonly authors?: readonly number[] },
  accountId: number,
  context: Context,
): Promise<void> {
  const rows = ids ?? authors ?? [];
  if (rows.length === 0) return;
  const found = await selectAccountRows("reviews", accountId, context.transaction)
    .innerJoin("users", sameAccount("users.id", "reviews.user_row"))
    .select(columns.map((name) => `reviews.${name}` as const))
    .select("users.display_name")
    .where(ids ? "reviews.id" : "reviews.user_row", "in", rows)
    .execute();
  const reviews = found.map(({ display_name, ...review }) => ({ review, author: { display_name } }));
  await indexReviews(reviews, accountId, context);
}
