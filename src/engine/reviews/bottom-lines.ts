import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type * as z from "zod";
import { bottomLinePage, type contract, siteReviewsId } from "../../contract/index.ts";
import type { Tables } from "../../storage/tables.ts";
import { type Account, accountOf, type HandlerContext } from "../kernel/handler.ts";
import { findProduct } from "../products/product-lookup.ts";
import { averageScore, noStars, findRatingTarget, readStars, siteTarget, sumStars } from "./rating-targets.ts";

type Query = z.output<typeof contract.reviews.bottomLines.input>;
type Listed = z.output<typeof contract.reviews.bottomLines.output>;
type Context = Pick<HandlerContext, "transaction" | "nowMs"> & { readonly account?: Account };

/** Whether any rating changes are due to be applied to the bottom lines of all products. */
export async function hasDueChanges({ transaction, nowMs, account }: Context): Promise<boolean> {
  const due = await transaction
    .selectFrom("bottom_line_changes")
    .select("id")
    .where("account_id", "=", account?.id ?? 0)
    .where("due_at", "<=", nowMs)
    .limit(1)
    .executeTakeFirst();
  return due !== undefined;
}

/** Applies due changes to the published totals of rating targets, and updates which products are listed. */
export async function applyDueChanges({ transaction, nowMs, account }: Context): Promise<void> {
  const isDue = sql`account_id = ${account?.id ?? 0} and due_at <= ${nowMs}`;
  const due = sql`select shelf, sum(reviews) as reviews, sum(score) as score, max(due_at) as due_at
    from bottom_line_changes where ${isDue} group by shelf`;
  await sql`
    update review_totals set shown_reviews = shown_reviews + due.reviews, shown_score = shown_score + due.score,
      updated_at = due.due_at
    from (${due}) as due where review_totals.shelf = due.shelf`.execute(transaction);
  await updateListedProducts(due, transaction);
  await sql`delete from bottom_line_changes where ${isDue}`.execute(transaction);
}

/** Updates which products are listed: those with reviews, or in a group with reviews. A change to a group affects all its products. */
async function updateListedProducts(
  due: RawBuilder<unknown>,
  transaction: HandlerContext["transaction"],
): Promise<void> {
  await sql`
    with due as (${due}), due_products as (
      select shelf, due_at from due where shelf like 'p%'
      union all
      select 'p' || cast(member.product_row as text), due.due_at from due
      inner join group_products as member on member.group_row = cast(substr(due.shelf, 2) as bigint)
      where due.shelf like 'g%'
    ), due_last as (select shelf, max(due_at) as due_at from due_products group by shelf)
    update review_totals set
      updated_at = case when due_last.due_at > updated_at then due_last.due_at else updated_at end,
      listed = case when shown_reviews > 0 or exists (
        select 1 from group_products as member
        inner join review_totals as grouped on grouped.shelf = 'g' || cast(member.group_row as text)
        where member.product_row = review_totals.product_row and grouped.shown_reviews > 0
      ) then 1 else 0 end
    from due_last where review_totals.shelf = due_last.shelf`.execute(transaction);
}

/**
 * Lists the bottom lines of all products, which are updated with a delay of one hour.
 * Source: spec "Reviews": a grouped product is listed twice, its group's bottom line first; "Limits": at most 100 per page.
 * Assumed: entries are in product order; `count` counts entries, of which a grouped product has two; without `count`
 * and `page`, the first 10 are returned; `since_id` is a product's row ID, `since_date` the date of the last change; an
 * account without bottom lines gets `{}`, a page past the end an empty list; the store's own reviews are not included.
 */
export async function listBottomLines(query: Query, context: HandlerContext): Promise<Listed> {
  const count = Math.min(query.count ?? bottomLinePage.default, bottomLinePage.max);
  const page = Math.max(query.page ?? 1, 1);
  const found = await selectBottomLines({ ...query, count, page }, await hasGroups(context), context).execute();
  const isUnfiltered = page === 1 && count > 0 && query.since_id === undefined && query.since_date === undefined;
  if (found.length === 0 && isUnfiltered) return {};
  const bottomlines = found.map(({ product_id, reviews, score }) => ({
    domain_key: product_id,
    product_score: averageScore({ reviews, score }),
    total_reviews: reviews,
  }));
  return { bottomlines, page: String(page), per_page: String(count) };
}

interface Page extends Query {
  readonly count: number;
  readonly page: number;
}

/** Whether the account has grouped products. Most have none, and their bottom lines come from a single index. */
async function hasGroups(context: HandlerContext): Promise<boolean> {
  const member = await context.transaction
    .selectFrom("group_products")
    .select("product_row")
    .where("account_id", "=", accountOf(context).id)
    .limit(1)
    .executeTakeFirst();
  return member !== undefined;
}

const offsetOf = ({ page, count }: Page) => Math.min((page - 1) * count, Number.MAX_SAFE_INTEGER - count);

/** Selects the own entries of all listed products. */
function selectOwn(page: Page, context: HandlerContext) {
  return onPage(
    context.transaction.selectFrom("review_totals as own").select(["own.product_row", sql.lit<number>(1).as("is_own")]),
    page,
    context,
  ).orderBy("own.product_row");
}

/**
 * Selects the group entries of all listed products. The cross join makes the group members the outer loop, because only
 * a few of many products may be in groups. A group without counted reviews, such as a new one, has no entry.
 */
function selectGrouped(page: Page, context: HandlerContext) {
  return onPage(
    context.transaction
      .selectFrom("group_products as member")
      .crossJoin("review_totals as own")
      .where("member.account_id", "=", accountOf(context).id)
      .where("member.product_row", ">=", page.since_id ?? 0)
      .where(sql<boolean>`own.shelf = 'p' || cast(member.product_row as text)`)
      .where(
        sql<boolean>`exists (select 1 from review_totals as grouped
          where grouped.shelf = 'g' || cast(member.group_row as text) and grouped.shown_reviews > 0)`,
      )
      .select(["member.product_row", sql.lit<number>(0).as("is_own")]),
    page,
    context,
  ).orderBy("member.product_row");
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
    .orderBy("is_own");
}

/** The query for a page: selects its entries using only indexes, then joins their data. */
function selectBottomLines(page: Page, isGrouping: boolean, context: HandlerContext) {
  const { transaction } = context;
  const offset = offsetOf(page);
  const entries = isGrouping
    ? selectMerged(page, context).limit(page.count).offset(offset).as("listed")
    : selectOwn(page, context).limit(page.count).offset(offset).as("listed");
  return transaction
    .selectFrom(entries)
    .innerJoin("products", "products.id", "listed.product_row")
    .leftJoin("group_products", (join) =>
      join.onRef("group_products.product_row", "=", "listed.product_row").on("listed.is_own", "=", 0),
    )
    .innerJoin("review_totals", (join) =>
      join.on(sql<boolean>`review_totals.shelf = case when group_products.group_row is null
        then 'p' || cast(listed.product_row as text) else 'g' || cast(group_products.group_row as text) end`),
    )
    .select(["products.product_id", "review_totals.shown_reviews as reviews", "review_totals.shown_score as score"])
    .orderBy("listed.product_row")
    .orderBy("listed.is_own");
}

type TotalsQuery<O> = SelectQueryBuilder<Tables & { own: Tables["review_totals"] }, "own", O>;

/** Restricts a query to the listed products that match the page's filters. */
function onPage<Q extends TotalsQuery<unknown>>(query: Q, { since_id, since_date }: Page, context: HandlerContext): Q {
  let listed = query as TotalsQuery<unknown>;
  listed = listed.where("own.account_id", "=", accountOf(context).id).where("own.listed", "=", sql.lit(1));
  if (since_id !== undefined) listed = listed.where("own.product_row", ">=", since_id);
  if (since_date !== undefined) listed = listed.where("own.updated_at", ">=", Date.parse(since_date));
  return listed as Q;
}

/**
 * Reads the bottom line of one product, or of the store for `service_site_reviews`.
 * Assumed: an unknown product has no reviews, because product pages may request it before the first review; this bottom
 * line is updated without delay.
 */
export async function readBottomLine(productId: string, context: HandlerContext) {
  const target = productId === siteReviewsId ? siteTarget(accountOf(context).id) : await findTarget(productId, context);
  const sums = sumStars(target === undefined ? noStars : await readStars(target, context));
  return { average_score: averageScore(sums), total_reviews: sums.reviews };
}

async function findTarget(productId: string, context: HandlerContext): Promise<string | undefined> {
  const { transaction } = context;
  const row = await findProduct(productId, { transaction, accountId: accountOf(context).id });
  return row === undefined ? undefined : findRatingTarget(row, context);
}
