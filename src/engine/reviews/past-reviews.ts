import { sql } from "kysely";
import { actorNames, type PastReview, type ReviewerType, siteReviewsId } from "../../contract/index.ts";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { addShoppers } from "../accounts/shoppers.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { addProducts, type FoundProduct } from "../products/product-lookup.ts";
import { countReviews, groupTarget, productTarget, siteTarget } from "./rating-targets.ts";
import type { ReviewParts } from "./review-response.ts";
import { describeProduct, type NewReview } from "./review-store.ts";

export interface ImportedReview {
  readonly input: NewReview;
  readonly past: PastReview;
  readonly reviewer_type: ReviewerType;
}

type Review = Row<"reviews">;
type NewRow = Omit<Review, "id" | "account_id" | "votes_up" | "votes_down" | "order_row" | "updated_at">;

/** In the order in which the rows are passed to the statement. */
const reviewColumns: BatchColumns<NewRow> = {
  product_row: "integer",
  user_row: "integer",
  shelf: "text",
  title: "text",
  content: "text",
  score: "integer",
  reviewer_type: "text",
  user_reference: "text",
  domain: "text",
  published: "integer",
  moderation: "text",
  comment: "text",
  comment_at: "integer",
  created_at: "integer",
  images: "integer",
};

const columnNames = Object.keys(reviewColumns) as readonly (keyof NewRow)[];

/**
 * Stores reviews that were written in the past, with a constant number of statements.
 * Assumed: an imported review has the state that the store reports, its comment is as old as the review unless the store
 * states its time, its images stay where they are, and it triggers no emails and no webhook events.
 */
export async function storePastReviews(
  reviews: readonly ImportedReview[],
  context: HandlerContext,
): Promise<ReviewParts[]> {
  const { id: accountId } = accountOf(context);
  const products = await addProducts(
    reviews.flatMap(({ input }) => (input.sku === siteReviewsId ? [] : [describeProduct(input)])),
    context,
  );
  const authors = await addShoppers(
    reviews.map(({ input, reviewer_type }) => ({ ...input, isVerified: reviewer_type !== "anonymous" })),
    accountId,
    context,
  );
  const groups = await findGroups(products.values(), context);
  const parts = reviews.map((review, at) => {
    const author = authors[at];
    if (!author) throw new Error("an author was not stored");
    const product = products.get(review.input.sku);
    const group = product && groups.get(product.id);
    const target = group === undefined ? product && productTarget(product.id) : groupTarget(group);
    const shelf = target ?? siteTarget(accountId);
    return { row: toRow(review, { shelf, product_row: product?.id ?? null, user_row: author.id }), author, product };
  });
  const ids = await insertReviews(
    parts.map(({ row }) => row),
    context,
  );
  const images = reviews.flatMap(({ past }, at) => (past.images ?? []).map((url) => [ids[at], url]));
  await insertImages(images, context);
  const published = parts.filter(({ row }) => row.published === 1);
  const counted = published.map(({ row: { product_row: productRow, score } }) => {
    return { productRow, score, groupRow: productRow === null ? undefined : groups.get(productRow) };
  });
  await countReviews(counted, accountId, context);
  const added = { account_id: accountId, votes_up: 0, votes_down: 0, order_row: null };
  return parts.map(({ row, author, product }, at) => {
    const review: Review = Object.assign(row, { id: ids[at] ?? 0, updated_at: context.nowMs }, added);
    return { review, author, product };
  });
}

function toRow(
  { input, past, reviewer_type }: ImportedReview,
  rows: Pick<NewRow, "shelf" | "product_row" | "user_row">,
): NewRow {
  const created_at = Date.parse(past.created_at);
  const comment = past.comment ?? null;
  const isShown = past.published ?? true;
  const commentedMs = past.comment_created_at ? Date.parse(past.comment_created_at) : created_at;
  return {
    ...rows,
    title: input.review_title,
    content: input.review_content,
    score: input.review_score,
    reviewer_type,
    user_reference: input.user_reference || null,
    domain: input.domain || null,
    published: isShown ? 1 : 0,
    moderation: isShown ? "published" : "unpublished",
    comment,
    comment_at: comment === null ? null : commentedMs,
    created_at,
    images: past.images?.length ?? 0,
  };
}

async function findGroups(
  products: Iterable<FoundProduct>,
  { transaction, dialect }: HandlerContext,
): Promise<ReadonlyMap<number, number>> {
  const ids = Array.from(products, ({ id }) => [id]);
  if (ids.length === 0) return new Map();
  const { rows } = await selectGroups(transaction, dialect, { rows: JSON.stringify(ids) });
  return new Map(rows.map(({ product_row, group_row }) => [product_row, group_row]));
}

const selectGroups = createStatement<{ rows: string }, Pick<Row<"group_products">, "product_row" | "group_row">>(
  (slot, dialect) => sql`
    select group_products.product_row, group_products.group_row
    from ${batchOf<{ id: number }>({ id: "integer" }, slot("rows"), dialect)} cross join group_products
    where group_products.product_row = batch.id`,
);

/** @returns the row IDs, in the order of the rows */
async function insertReviews(rows: readonly NewRow[], context: HandlerContext): Promise<readonly number[]> {
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  const inserted = await insertReviewRows(transaction, dialect, {
    accountId,
    nowMs,
    rows: JSON.stringify(rows.map((row) => columnNames.map((name) => row[name]))),
  });
  // IDs increase in the order of the batch; the order in which rows are returned is not defined.
  const ids = inserted.rows.map(({ id }) => id).toSorted((a, b) => a - b);
  await insertEventRows(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(ids.map((id) => [id])) });
  return ids;
}

const insertReviewRows = createStatement<{ accountId: number; nowMs: number; rows: string }, { readonly id: number }>(
  (slot, dialect) => sql`
    insert into reviews (account_id, updated_at, votes_up, votes_down, ${sql.join(columnNames.map((name) => sql.ref(name)))})
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), 0, 0,
      ${sql.join(columnNames.map((name) => sql.ref(`batch.${name}`)))}
    from ${batchOf(reviewColumns, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    returning id`,
);

const insertEventRows = createStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into review_events (account_id, review_row, event, by_name, created_at)
    select cast(${slot("accountId")} as bigint), batch.id, 'imported', ${sql.lit(actorNames.store)},
      cast(${slot("nowMs")} as bigint)
    from ${batchOf<{ id: number }>({ id: "integer" }, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}`,
);

async function insertImages(images: readonly (readonly unknown[])[], context: HandlerContext): Promise<void> {
  if (images.length === 0) return;
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  await insertImageRows(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(images) });
}

const insertImageRows = createStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into review_images (account_id, created_at, content_type, base64, review_row, url)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), '', '', batch.review_row, batch.url
    from ${batchOf<{ review_row: number; url: string }>({ review_row: "integer", url: "text" }, slot("rows"), dialect)}
    where true
    ${dialect.inBatchOrder}`,
);
