import { type SelectQueryBuilder, sql } from "kysely";
import type * as z from "zod";
import { bottomLinePage, type contract, siteReviewsId } from "../../contract/index.ts";
import type { Tables } from "../../storage/tables.ts";
import { readBottomLinesDelay } from "../accounts/account-settings.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { siteTarget } from "./rating-targets.ts";
import { averageScore, readProductStars, readStars, sumStars } from "./star-totals.ts";

type Query = z.output<typeof contract.reviews.bottomLines.input>;
type Listed = z.output<typeof contract.reviews.bottomLines.output>;

/**
 * Lists the bottom lines of all products, as of the account's delay before now.
 * Source: spec "Reviews": a grouped product is listed twice, its group's bottom line first; "Limits": at most 100 per page.
 * Assumed: entries are in product order; `count` counts entries, of which a grouped product has two; without `count`
 * and `page`, the first 10 are returned; `since_id` is a product's row ID, `since_date` the date of the last change; an
 * account without bottom lines gets an empty list, like a page past the end, because clients that page until the list
 * is empty never stop at `{}`; the store's own reviews are not included.
 */
export async function listBottomLines(query: Query, context: HandlerContext): Promise<Listed> {
  const count = Math.min(query.count ?? bottomLinePage.default, bottomLinePage.max);
  const page = Math.max(query.page ?? 1, 1);
  const changedSince = query.since_date === undefined ? undefined : await findFirstChange(query.since_date, context);
  const listed = { count, page, since_id: query.since_id, changedSince };
  const found = await selectBottomLines(listed, await hasGroups(context), context).execute();
  const bottomlines = found.map(({ product_id, reviews, score }) => ({
    domain_key: product_id,
    product_score: averageScore({ reviews, score }),
    total_reviews: reviews,
  }));
  return { bottomlines, page: String(page), per_page: String(count) };
}

/** The time of the first change that became visible on a date or later. */
async function findFirstChange(date: string, context: HandlerContext): Promise<number> {
  return Date.parse(date) - (await readBottomLinesDelay(context, accountOf(context).id));
}

interface Page {
  readonly count: number;
  readonly page: number;
  readonly since_id: number | undefined;
  readonly changedSince: number | undefined;
}

/** Whether the list contains grouped products. Most lists have none, and come from a single index. */
async function hasGroups(context: HandlerContext): Promise<boolean> {
  const member = await selectAccountRows("review_totals", accountOf(context).id, context.transaction)
    .select("product_row")
    .where("listed", "=", sql.lit(1))
    .where("shown_group", ">", sql.lit(0))
    .limit(1)
    .executeTakeFirst();
  return member !== undefined;
}

const offsetOf = ({ page, count }: Page) => Math.min((page - 1) * count, Number.MAX_SAFE_INTEGER - count);

/** Selects the own entries of all listed products. */
function selectOwn(page: Page, context: HandlerContext) {
  return onPage(
    context.transaction
      .selectFrom("review_totals as own")
      .select(["own.product_row", sql.lit<number>(0).as("group_row")]),
    page,
    context,
  ).orderBy("own.product_row");
}

/** Selects the group entries of all listed products. A listed product that is in a group is in one with reviews. */
function selectGrouped(page: Page, context: HandlerContext) {
  return onPage(
    context.transaction
      .selectFrom("review_totals as own")
      .where("own.shown_group", ">", sql.lit(0))
      .select(["own.product_row", "own.shown_group as group_row"]),
    page,
    context,
  ).orderBy("own.product_row");
}

/** Selects both kinds of entries in order, each only up to the end of the page. */
function selectMerged(page: Page, context: HandlerContext) {
  const upToPage = offsetOf(page) + page.count;
  const from = context.transaction;
  return from
    .selectFrom(selectOwn(page, context).limit(upToPage).as("listed_products"))
    .selectAll()
    .unionAll(from.selectFrom(selectGrouped(page, context).limit(upToPage).as("listed_groups")).selectAll())
    .orderBy("product_row")
    .orderBy("group_row", "desc");
}

/** The query for a page: selects its entries using only indexes, then joins their data. */
function selectBottomLines(page: Page, isGrouping: boolean, context: HandlerContext) {
  const { transaction } = context;
  const { id: accountId } = accountOf(context);
  const offset = offsetOf(page);
  const entries = isGrouping
    ? selectMerged(page, context).limit(page.count).offset(offset).as("listed")
    : selectOwn(page, context).limit(page.count).offset(offset).as("listed");
  return transaction
    .selectFrom(entries)
    .innerJoin("products", (join) =>
      join.on("products.account_id", "=", accountId).onRef("products.id", "=", "listed.product_row"),
    )
    .innerJoin("review_totals", (join) =>
      join.on("review_totals.account_id", "=", accountId)
        .on(sql<boolean>`review_totals.rating_target = case when listed.group_row = 0
        then 'p' || cast(listed.product_row as text) else 'g' || cast(listed.group_row as text) end`),
    )
    .select(["products.product_id", "review_totals.shown_reviews as reviews", "review_totals.shown_score as score"])
    .orderBy("listed.product_row")
    .orderBy("listed.group_row", "desc");
}

type TotalsQuery<O> = SelectQueryBuilder<Tables & { own: Tables["review_totals"] }, "own", O>;

/** Restricts a query to the listed products that match the page's filters. */
function onPage<Q extends TotalsQuery<unknown>>(
  query: Q,
  { since_id, changedSince }: Page,
  context: HandlerContext,
): Q {
  let listed = query as TotalsQuery<unknown>;
  listed = listed.where("own.account_id", "=", accountOf(context).id).where("own.listed", "=", sql.lit(1));
  if (since_id !== undefined) listed = listed.where("own.product_row", ">=", since_id);
  if (changedSince !== undefined) listed = listed.where("own.updated_at", ">=", changedSince);
  return listed as Q;
}

/**
 * Reads the bottom line of one product, or of the store for `service_site_reviews`.
 * Assumed: an unknown product has no reviews, because product pages may request it before the first review; this bottom
 * line is updated without delay.
 */
export async function readBottomLine(productId: string, context: HandlerContext) {
  const { id: accountId } = accountOf(context);
  const isSite = productId === siteReviewsId;
  const stars = isSite
    ? await readStars({ accountId, target: siteTarget(accountId) }, context)
    : await readProductStars({ accountId, productId }, context);
  const sums = sumStars(stars);
  return { average_score: averageScore(sums), total_reviews: sums.reviews };
}
