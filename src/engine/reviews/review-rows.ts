import { sql } from "kysely";
import { siteReviewsId } from "../../contract/index.ts";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { addProducts, type FoundProduct } from "../products/product-lookup.ts";
import { groupTarget, type ProductGroups, productTarget, siteTarget } from "./rating-targets.ts";
import { describeProduct, type NewReview } from "./reviewed-product.ts";
import { countReviews } from "./star-totals.ts";

type Review = Row<"reviews">;
export type NewRow = Omit<Review, "id" | "account_id" | "votes_up" | "votes_down" | "updated_at">;

/** In the order in which the rows are passed to the statement. */
const reviewColumns: BatchColumns<NewRow> = {
  product_row: "integer",
  user_row: "integer",
  rating_target: "text",
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
  order_row: "integer",
};

const columnNames = Object.keys(reviewColumns) as readonly (keyof NewRow)[];

/** Finds or adds the products of reviews, by their product IDs. */
export function addReviewedProducts(
  inputs: readonly NewReview[],
  isByStore: boolean,
  context: HandlerContext,
): Promise<ReadonlyMap<string, FoundProduct>> {
  const described = inputs.flatMap((input) => (input.sku === siteReviewsId ? [] : [describeProduct(input)]));
  return addProducts(described, isByStore, context);
}

/** The rating target of a review: of its product, of the product's group, or of the store. */
export function targetOf(product: FoundProduct | undefined, groups: ProductGroups, accountId: number): string {
  if (!product) return siteTarget(accountId);
  const group = groups.get(product.id);
  return group === undefined ? productTarget(product.id) : groupTarget(group);
}

/** @returns the row IDs, in the order of the rows */
export async function insertReviews(rows: readonly NewRow[], context: HandlerContext): Promise<readonly number[]> {
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
    from ${batchOf(reviewColumns, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    returning id`,
);

/** The stored form of a new row. */
export function toStored(row: NewRow, id: number, context: HandlerContext): Review {
  const added = { id, account_id: accountOf(context).id, votes_up: 0, votes_down: 0, updated_at: context.nowMs };
  return Object.assign(row, added);
}

/** Counts those reviews that are published. */
export async function countPublished(
  rows: readonly NewRow[],
  groups: ProductGroups,
  context: HandlerContext,
): Promise<void> {
  const counted = rows.flatMap(({ product_row: productRow, score, published }) =>
    published === 1 ? [{ productRow, score, by: 1 as const }] : [],
  );
  await countReviews(counted, accountOf(context).id, context, groups);
}

/** An event in the history of a review. */
export interface ReviewEvent {
  readonly id: number;
  readonly event: string;
  readonly by: string;
  readonly reason: string | null;
  /** The comment before it was edited or deleted. */
  readonly previous?: string | null;
}

const eventColumns: BatchColumns<Required<ReviewEvent>> = {
  id: "integer",
  event: "text",
  by: "text",
  reason: "text",
  previous: "text",
};

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
