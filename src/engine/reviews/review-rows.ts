import { sql } from "kysely";
import type * as z from "zod";
import { type contract, siteReviewsId } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { batchColumns, type Row } from "../../storage/tables.ts";
import type { AddressedPerson } from "../accounts/shoppers.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { addProducts, type ProductDescription } from "../products/product-lookup.ts";
import { findGroups, groupTarget, type ProductGroups, productTarget, siteTarget } from "./rating-targets.ts";
import { indexReviews } from "./review-index.ts";
import type { ReviewParts } from "./review-response.ts";
import { updateStarTotals } from "./star-totals.ts";

/** In the order in which the rows are passed to the statement. */
const columnNames = [
  ...([
    "product_row",
    "user_row",
    "rating_target",
    "title",
    "content",
    "score",
    "reviewer_type",
    "user_reference",
  ] as const),
  ...([
    "domain",
    "published",
    "moderation",
    "comment",
    "comment_at",
    "created_at",
    "images",
    "order_row",
    "untitled",
  ] as const),
] as const;

export type NewRow = Pick<Row<"reviews">, (typeof columnNames)[number]>;

export type NewReview = z.output<typeof contract.reviews.createNow.input>;

/** A new review with its author and product. */
interface NewParts extends Omit<ReviewParts, "review"> {
  readonly row: NewRow;
}

/** Finds or adds the products of new reviews, and their rating targets. `row` contains what they have in common. */
export async function placeReviews(
  inputs: readonly NewReview[],
  authors: readonly AddressedPerson[],
  isByStore: boolean,
  context: HandlerContext,
) {
  const { id: accountId } = accountOf(context);
  const described = inputs.flatMap((input) => (input.sku === siteReviewsId ? [] : [describeProduct(input)]));
  const products = await addProducts(described, isByStore, context);
  const productRows = Array.from(products.values(), ({ id }) => id);
  const groups = await findGroups(productRows, accountId, context);
  const places = inputs.map((input, at) => {
    const product = products.get(input.sku);
    const author = authors[at];
    if (!author) throw new Error("an author was not stored");
    const group = product && groups.get(product.id);
    const own = product ? productTarget(product.id) : siteTarget(accountId);
    const row = {
      product_row: product?.id ?? null,
      user_row: author.id,
      rating_target: group === undefined ? own : groupTarget(group),
      title: input.review_title,
      content: input.review_content,
      score: input.review_score,
      user_reference: input.user_reference || null,
      domain: input.domain || null,
    };
    return { product, author, row };
  });
  return { groups, places };
}

/** The description of the product that a new review names. */
function describeProduct(input: NewReview): ProductDescription {
  return {
    product_id: input.sku,
    name: input.product_title,
    url: input.product_url ?? "",
    image_url: input.product_image_url || null,
    description: input.product_description || null,
    product_tags: null,
  };
}

/**
 * Stores new reviews, counts those that are published, and makes them searchable, with a constant number of statements.
 * @param groups the groups of their products
 * @param listEvents the events with which the history of a review begins, by its index
 */
export async function storeReviews(
  reviews: readonly NewParts[],
  groups: ProductGroups,
  listEvents: (index: number) => readonly Omit<ReviewEvent, "id">[],
  context: HandlerContext,
): Promise<ReviewParts[]> {
  const { id: account_id } = accountOf(context);
  const rows = reviews.map(({ row }) => row);
  const ids = await insertReviews(rows, context);
  const counted = rows.flatMap(({ product_row: productRow, score, published }) =>
    published === 1 ? [{ productRow, score, by: 1 as const }] : [],
  );
  await updateStarTotals(counted, account_id, context, groups);
  const events = ids.flatMap((id, index) => listEvents(index).map((event) => Object.assign({ id }, event)));
  await recordReviewEvents(events, account_id, context);
  const stored = reviews.map(({ row, author, product }, at) => {
    const added = {
      id: ids[at] ?? 0,
      account_id,
      votes_up: 0,
      votes_down: 0,
      updated_at: context.nowMs,
      received_coupon: 0,
    };
    return { review: Object.assign(row, added), author, product };
  });
  await indexReviews(stored, account_id, context);
  return stored;
}

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
  await addPublicIds("review", ids, accountId, context);
  return ids;
}

const insertReviewRows = createStatement<{ accountId: number; nowMs: number; rows: string }, { readonly id: number }>(
  (slot, dialect) => sql`
    insert into reviews (account_id, updated_at, votes_up, votes_down, ${sql.join(columnNames.map((name) => sql.ref(name)))})
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), 0, 0,
      ${sql.join(columnNames.map((name) => sql.ref(`batch.${name}`)))}
    from ${batchOf(batchColumns("reviews", columnNames), slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    returning id`,
);

/** An event in the history of a review. */
export interface ReviewEvent {
  readonly id: number;
  readonly event: string;
  readonly by: string;
  readonly reason: string | null;
  /** The comment before it was edited or deleted. */
  readonly previous?: string | null;
}

const eventColumns = { id: "integer", event: "text", by: "text", reason: "text", previous: "text" } as const;

/** Appends events to the histories of reviews, which are append-only. */
export async function recordReviewEvents(
  events: readonly ReviewEvent[],
  accountId: number,
  { transaction, dialect, nowMs }: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">,
): Promise<void> {
  const rows = JSON.stringify(events.map(({ id, event, by, reason, previous }) => [id, event, by, reason, previous]));
  await insertEventRows(transaction, dialect, { accountId, nowMs, rows });
}

const insertEventRows = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into review_events (account_id, review_row, event, by_name, reason, previous, created_at)
    select cast(${slot("accountId")} as bigint), batch.id, batch.event, batch.by, batch.reason, batch.previous,
      cast(${slot("nowMs")} as bigint)
    from ${batchOf(eventColumns, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}`,
);
