import { type RawBuilder, sql } from "kysely";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { recordChange, recordChanges } from "./bottom-line-changes.ts";
import { accountTarget, findGroup, groupTarget, productTarget, siteTarget, targetOfProduct } from "./rating-targets.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

/** Number of published reviews by stars, from one to five. */
export type Stars = readonly [number, number, number, number, number];

interface StarColumns {
  readonly stars_1: number;
  readonly stars_2: number;
  readonly stars_3: number;
  readonly stars_4: number;
  readonly stars_5: number;
}

type Select = RawBuilder<unknown>;

const selectStars = (accountId: Select, target: Select) => sql`
  select stars_1, stars_2, stars_3, stars_4, stars_5 from review_totals
  where account_id = ${accountId} and shelf = ${target}`;

const selectTargetStars = createStatement<{ accountId: number; target: string }, StarColumns>((slot) =>
  selectStars(slot("accountId"), slot("target")),
);

const selectProductStars = createStatement<{ accountId: number; productId: string }, StarColumns>((slot) => {
  const accountId = slot("accountId");
  return selectStars(accountId, targetOfProduct({ accountId, productId: slot("productId") }));
});

type ReadContext = Pick<HandlerContext, "transaction" | "dialect">;

/** Reads the number of published reviews of a target by stars. */
export async function readStars(
  target: { readonly accountId: number; readonly target: string },
  { transaction, dialect }: ReadContext,
): Promise<Stars> {
  return toStars((await selectTargetStars(transaction, dialect, target)).rows);
}

/** Reads the number of published reviews of a product, or of its group, by stars. An unknown product has none. */
export async function readProductStars(
  product: { readonly accountId: number; readonly productId: string },
  { transaction, dialect }: ReadContext,
): Promise<Stars> {
  return toStars((await selectProductStars(transaction, dialect, product)).rows);
}

function toStars([found]: readonly StarColumns[]): Stars {
  return found ? [found.stars_1, found.stars_2, found.stars_3, found.stars_4, found.stars_5] : noStars;
}

export const noStars: Stars = [0, 0, 0, 0, 0];

/** The number of reviews, and the sum of their scores. */
export function sumStars(stars: Stars): { readonly reviews: number; readonly score: number } {
  return {
    reviews: stars.reduce((sum, count) => sum + count, 0),
    score: stars.reduce((sum, count, at) => sum + count * (at + 1), 0),
  };
}

/** Assumed: an average is rounded to two decimals, and is 0 without reviews. */
export function averageScore({ reviews, score }: { readonly reviews: number; readonly score: number }): number {
  return reviews === 0 ? 0 : Math.round((score / reviews) * 100) / 100;
}

interface CountedReview {
  readonly accountId: number;
  /** Null for a review of the store. */
  readonly productRow: number | null;
  readonly score: number;
}

const addToStored = sql`
    on conflict (account_id, shelf) do update set
      stars_1 = review_totals.stars_1 + excluded.stars_1, stars_2 = review_totals.stars_2 + excluded.stars_2,
      stars_3 = review_totals.stars_3 + excluded.stars_3, stars_4 = review_totals.stars_4 + excluded.stars_4,
      stars_5 = review_totals.stars_5 + excluded.stars_5`;

/** Counts a review that was published (1) or hidden (-1), for its product and the product's group, or for the store. */
export async function countReview(
  { accountId, productRow, score }: CountedReview,
  by: 1 | -1,
  context: Context,
): Promise<void> {
  const stars = noStars.map((_, at) => (at + 1 === score ? by : 0)) as unknown as Stars;
  await addStars({ accountId, target: accountTarget(accountId), productRow: null }, stars, context);
  if (productRow === null) {
    await addStars({ accountId, target: siteTarget(accountId), productRow: null }, stars, context);
    return;
  }
  await addListedStars({ accountId, target: productTarget(productRow), productRow }, stars, context);
  const group = await findGroup({ accountId, productRow }, context);
  if (group !== undefined) {
    await addListedStars({ accountId, target: groupTarget(group), productRow: null }, stars, context);
  }
}

/** A published review, with the group of its product. */
export interface NewlyCounted {
  /** Null for a review of the store. */
  readonly productRow: number | null;
  readonly groupRow?: number | undefined;
  readonly score: number;
}

/** In the order in which the rows are passed to the statement. */
const starsColumns: BatchColumns<StarsColumns> = {
  shelf: "text",
  product_row: "integer",
  stars_1: "integer",
  stars_2: "integer",
  stars_3: "integer",
  stars_4: "integer",
  stars_5: "integer",
};

interface StarsColumns {
  shelf: string;
  product_row: number | null;
  stars_1: number;
  stars_2: number;
  stars_3: number;
  stars_4: number;
  stars_5: number;
}

/** Counts reviews that were published, as `countReview` does, with a constant number of statements. */
export async function countReviews(
  reviews: readonly NewlyCounted[],
  accountId: number,
  context: Context,
): Promise<void> {
  if (reviews.length === 0) return;
  const totals = new Map<string, { readonly productRow: number | null; readonly stars: number[] }>();
  const add = (target: string, score: number, productRow: number | null = null) => {
    const { stars } = totals.get(target) ?? { stars: [...noStars] };
    stars[score - 1] = (stars[score - 1] ?? 0) + 1;
    totals.set(target, { productRow, stars });
  };
  for (const { productRow, groupRow, score } of reviews) {
    add(accountTarget(accountId), score);
    if (productRow === null) add(siteTarget(accountId), score);
    else add(productTarget(productRow), score, productRow);
    if (groupRow !== undefined) add(groupTarget(groupRow), score);
  }
  const { transaction, dialect, nowMs } = context;
  const rows = Array.from(totals, ([target, { productRow, stars }]) => [target, productRow, ...stars]);
  await addStarsRows(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(rows) });
  const listed = [...totals].filter(
    ([target]) => target !== accountTarget(accountId) && target !== siteTarget(accountId),
  );
  const changes = listed.map(([target, { stars }]) => {
    const { reviews: count, score } = sumStars(stars as unknown as Stars);
    return { target, reviews: count, score };
  });
  await recordChanges(changes, accountId, context);
}

const addStarsRows = createStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into review_totals (account_id, shelf, product_row, stars_1, stars_2, stars_3, stars_4, stars_5,
      shown_reviews, shown_score, listed, updated_at)
    select cast(${slot("accountId")} as bigint), shelf, product_row, stars_1, stars_2, stars_3, stars_4, stars_5, 0, 0, 0,
      cast(${slot("nowMs")} as bigint)
    from ${batchOf(starsColumns, slot("rows"), dialect)} where true
    ${addToStored}`,
);

interface TargetRow {
  readonly accountId: number;
  readonly target: string;
  readonly productRow: number | null;
}

/** Adds to a target that appears in the bottom lines of all products, which are updated later. */
async function addListedStars(row: TargetRow, stars: Stars, context: Context): Promise<void> {
  await addStars(row, stars, context);
  await recordChange({ accountId: row.accountId, target: row.target, ...sumStars(stars) }, context);
}

async function addStars(
  { accountId, target, productRow }: TargetRow,
  [s1, s2, s3, s4, s5]: Stars,
  { transaction, dialect, nowMs }: Context,
): Promise<void> {
  const product = productRow ?? 0;
  await addStarsRow(transaction, dialect, { accountId, target, product, nowMs, s1, s2, s3, s4, s5 });
}

const addStarsRow = createStatement<{
  accountId: number;
  target: string;
  product: number;
  nowMs: number;
  s1: number;
  s2: number;
  s3: number;
  s4: number;
  s5: number;
}>(
  (slot) => sql`
    insert into review_totals (account_id, shelf, product_row, stars_1, stars_2, stars_3, stars_4, stars_5,
      shown_reviews, shown_score, listed, updated_at)
    values (${slot("accountId")}, ${slot("target")}, nullif(cast(${slot("product")} as bigint), 0), ${slot("s1")},
      ${slot("s2")}, ${slot("s3")}, ${slot("s4")}, ${slot("s5")}, 0, 0, 0, ${slot("nowMs")})
    ${addToStored}`,
);
