import { type RawBuilder, sql } from "kysely";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { batchColumns, type Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import {
  accountTarget,
  findGroups,
  groupTarget,
  type ProductGroups,
  productTarget,
  siteTarget,
  targetOfProduct,
} from "./rating-targets.ts";
import { bottomLinesDelay, siteReviewsId } from "../../contract/index.ts";
import { starCount, starScore } from "../../storage/rating-sql.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

/** Number of published reviews by stars, from one to five. */
export type Stars = readonly [number, number, number, number, number];

export type StarColumns = Pick<Row<"review_totals">, `stars_${1 | 2 | 3 | 4 | 5}`>;

type Select = RawBuilder<unknown>;

const selectStars = (accountId: Select, target: Select) => sql`
  select stars_1, stars_2, stars_3, stars_4, stars_5 from review_totals
  where account_id = ${accountId} and rating_target = ${target}`;

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

/**
 * Reads the ratings of products, each of which has that of its group, and of the store for `service_site_reviews`.
 * @returns those of known products, in the order of the IDs
 */
export async function readRatings(productIds: readonly string[], context: HandlerContext) {
  const { transaction, dialect } = context;
  const { id: accountId } = accountOf(context);
  const ids = [...new Set(productIds)];
  const rows = JSON.stringify(ids.map((id) => [id]));
  const site = siteTarget(accountId);
  const found = await selectRatings(transaction, dialect, { accountId, rows, site, siteId: siteReviewsId });
  const byId = new Map(found.rows.map((row) => [row.product_id, sumStars(toStars([row]))]));
  return ids.flatMap((product_id) => {
    const sums = byId.get(product_id);
    return sums ? [{ product_id, average_score: averageScore(sums), total_reviews: sums.reviews }] : [];
  });
}

const selectRatings = createStatement<
  { accountId: number; rows: string; site: string; siteId: string },
  StarColumns & { readonly product_id: string }
>((slot, dialect) => {
  const accountId = slot("accountId");
  const columns = [1, 2, 3, 4, 5].map((stars) => sql.raw(`coalesce(stars_${stars}, 0) as stars_${stars}`));
  return sql`
    select listed.product_id, ${sql.join(columns)}
    from (
      select batch.product_id, case when batch.product_id = ${slot("siteId")} then ${slot("site")}
        else ${targetOfProduct({ accountId, productId: sql`batch.product_id` })} end as target
      from ${batchOf({ product_id: "text" }, slot("rows"), dialect)}
    ) as listed
    left join review_totals on review_totals.account_id = ${accountId} and review_totals.rating_target = listed.target
    where listed.target is not null`;
});

export function toStars([found]: readonly StarColumns[]): Stars {
  return found ? [found.stars_1, found.stars_2, found.stars_3, found.stars_4, found.stars_5] : noStars;
}

export const noStars: Stars = [0, 0, 0, 0, 0];

/** The number of reviews, and the sum of their scores. */
export function sumStars(stars: readonly number[]): { readonly reviews: number; readonly score: number } {
  return {
    reviews: stars.reduce((sum, count) => sum + count, 0),
    score: stars.reduce((sum, count, at) => sum + count * (at + 1), 0),
  };
}

/** Assumed: an average is rounded to two decimals, and is 0 without reviews. */
export function averageScore({ reviews, score }: { readonly reviews: number; readonly score: number }): number {
  return reviews === 0 ? 0 : Math.round((score / reviews) * 100) / 100;
}

/** A review that was published (1) or hidden (-1). */
interface CountedReview {
  /** Null for a review of the store. */
  readonly productRow: number | null;
  readonly score: number;
  readonly by: 1 | -1;
}

const totalColumns = ["rating_target", "product_row", "stars_1", "stars_2", "stars_3", "stars_4", "stars_5"] as const;

/**
 * Counts reviews that were published or hidden, for their products and the groups of these, or for the store, with a
 * constant number of statements.
 * @param groups the groups of the products; looked up if they are omitted
 */
export async function updateStarTotals(
  reviews: readonly CountedReview[],
  accountId: number,
  context: Context,
  groups?: ProductGroups,
): Promise<void> {
  if (reviews.length === 0) return;
  const productRows = reviews.flatMap(({ productRow }) => productRow ?? []);
  const groupRows = groups ?? (await findGroups(productRows, accountId, context));
  const totals = new Map<string, { readonly productRow: number | null; readonly stars: number[] }>();
  const add = (target: string, { score, by }: CountedReview, productRow: number | null = null) => {
    const { stars } = totals.get(target) ?? { stars: [...noStars] };
    stars[score - 1] = (stars[score - 1] ?? 0) + by;
    totals.set(target, { productRow, stars });
  };
  for (const review of reviews) {
    const { productRow } = review;
    add(accountTarget(accountId), review);
    if (productRow === null) {
      add(siteTarget(accountId), review);
      continue;
    }
    add(productTarget(productRow), review, productRow);
    const groupRow = groupRows.get(productRow);
    if (groupRow !== undefined) add(groupTarget(groupRow), review);
  }
  const { transaction, dialect, nowMs } = context;
  const isListed = (target: string) => target !== accountTarget(accountId) && target !== siteTarget(accountId);
  await recordBottomLines([...totals.keys()].filter(isListed), accountId, context);
  const rows = Array.from(totals, ([target, { productRow, stars }]) => [target, productRow, ...stars]);
  await addStarsRows(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(rows) });
}

const addStarsRows = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into review_totals (account_id, rating_target, product_row, stars_1, stars_2, stars_3, stars_4, stars_5,
      updated_at)
    select cast(${slot("accountId")} as bigint), rating_target, product_row, stars_1, stars_2, stars_3, stars_4, stars_5,
      cast(${slot("nowMs")} as bigint)
    from ${batchOf(batchColumns("review_totals", totalColumns), slot("rows"), dialect)} where true
    on conflict (account_id, rating_target) do update set
      stars_1 = review_totals.stars_1 + excluded.stars_1, stars_2 = review_totals.stars_2 + excluded.stars_2,
      stars_3 = review_totals.stars_3 + excluded.stars_3, stars_4 = review_totals.stars_4 + excluded.stars_4,
      stars_5 = review_totals.stars_5 + excluded.stars_5, updated_at = excluded.updated_at`,
);

/**
 * Records the bottom lines and groups of products, and the bottom lines of groups, which the transaction is about to
 * change: the list of bottom lines shows those of an earlier time. At any time of the last day, a rating target had the
 * bottom line that was recorded before the first later change.
 * @param targets their rating targets, each once
 */
export async function recordBottomLines(
  targets: readonly string[],
  accountId: number,
  { transaction, dialect, nowMs }: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">,
): Promise<void> {
  if (targets.length === 0) return;
  await limitTimes(transaction, dialect, { accountId, nowMs });
  await deleteOld(transaction, dialect, { accountId, before: nowMs - bottomLinesDelay.maxMs });
  const rows = JSON.stringify(targets.map((target) => [target]));
  await insertChanges(transaction, dialect, { accountId, nowMs, rows });
}

/** No recorded change is later than the next one, even if a clock was wrong. */
const limitTimes = createDeferredStatement<{ accountId: number; nowMs: number }>(
  (slot) => sql`
    update bottom_line_changes set changed_at = ${slot("nowMs")}
    where account_id = ${slot("accountId")} and changed_at > ${slot("nowMs")}`,
);

const deleteOld = createDeferredStatement<{ accountId: number; before: number }>(
  (slot) => sql`
    delete from bottom_line_changes where account_id = ${slot("accountId")} and changed_at < ${slot("before")}`,
);

const insertChanges = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into bottom_line_changes (account_id, rating_target, reviews, score, group_row, updated_at, changed_at)
    select cast(${slot("accountId")} as bigint), batch.target, coalesce(${starCount}, 0), coalesce(${starScore}, 0),
      coalesce(group_products.group_row, 0), coalesce(review_totals.updated_at, 0), cast(${slot("nowMs")} as bigint)
    from ${batchOf({ target: "text" }, slot("rows"), dialect)}
    left join review_totals
      on review_totals.account_id = ${slot("accountId")} and review_totals.rating_target = batch.target
    left join group_products on group_products.account_id = ${slot("accountId")}
      and group_products.product_row = review_totals.product_row`,
);
