import { sql } from "kysely";
import type * as z from "zod";
import { bottomLinePage, type contract, siteReviewsId } from "../../contract/index.ts";
import type { StorageDialect } from "../../storage/dialect.ts";
import { starCountText, starScoreText } from "../../storage/rating-sql.ts";
import { readBottomLinesDelay } from "../accounts/account-settings.ts";
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
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  const count = Math.min(query.count ?? bottomLinePage.default, bottomLinePage.max);
  const page = Math.max(query.page ?? 1, 1);
  const delayMs = await readBottomLinesDelay(context, accountId);
  const selected = {
    accountId,
    asOfMs: delayMs === 0 ? endOfTime : nowMs - delayMs,
    sinceRow: query.since_id ?? 0,
    changedSince: query.since_date === undefined ? 0 : Date.parse(query.since_date) - delayMs,
    count,
    offset: Math.min((page - 1) * count, Number.MAX_SAFE_INTEGER - count),
  };
  const { rows } = await selectBottomLines(selected, dialect).execute(transaction);
  const bottomlines = rows.map(({ product_id, reviews, score }) => ({
    domain_key: product_id,
    product_score: averageScore({ reviews, score }),
    total_reviews: reviews,
  }));
  return { bottomlines, page: String(page), per_page: String(count) };
}

/** Later than any change. Without a delay, all changes count, even if another process's clock is ahead. */
const endOfTime = 8.64e15;

interface Page {
  readonly count: number;
  readonly offset: number;
  readonly accountId: number;
  readonly asOfMs: number;
  readonly sinceRow: number;
  readonly changedSince: number;
}

const countOf = (totals: string) => sql.raw(starCountText.replaceAll("stars_", `${totals}.stars_`));
const scoreOf = (totals: string) => sql.raw(starScoreText.replaceAll("stars_", `${totals}.stars_`));

/**
 * Selects a page of the bottom lines as of a time: those that were recorded before the first later change, or else the
 * current ones. Planned for the size of each page, because PostgreSQL would otherwise read all products.
 */
function selectBottomLines(
  { accountId, asOfMs, sinceRow, changedSince, count, offset }: Page,
  dialect: StorageDialect,
) {
  const firstLaterChange = (totals: string) => sql`(
    select later.id from bottom_line_changes as later
    where later.account_id = ${accountId} and later.rating_target = ${sql.ref(`${totals}.rating_target`)}
      and later.changed_at > ${asOfMs}
    order by later.changed_at, later.id limit 1)`;
  return sql<{ product_id: string; reviews: number; score: number }>`
    select products.product_id,
      case is_group when 1 then group_reviews else own_reviews end as reviews,
      case is_group when 1 then group_score else own_score end as score
    from (
      select own.product_row,
        coalesce(own_then.reviews, ${countOf("own")}) as own_reviews,
        coalesce(own_then.score, ${scoreOf("own")}) as own_score,
        coalesce(own_then.updated_at, own.updated_at) as own_updated_at,
        coalesce(group_then.reviews, ${countOf("grouped")}, 0) as group_reviews,
        coalesce(group_then.score, ${scoreOf("grouped")}, 0) as group_score,
        coalesce(group_then.updated_at, grouped.updated_at, 0) as group_updated_at
      from review_totals as own
      left join bottom_line_changes as own_then
        on own_then.account_id = ${accountId} and own_then.id = ${firstLaterChange("own")}
      left join group_products on group_products.account_id = ${accountId}
        and group_products.product_row = own.product_row
      left join review_totals as grouped on grouped.account_id = ${accountId}
        and grouped.rating_target = 'g' || cast(coalesce(own_then.group_row, group_products.group_row) as text)
      left join bottom_line_changes as group_then
        on group_then.account_id = ${accountId} and group_then.id = ${firstLaterChange("grouped")}
      where own.account_id = ${accountId} and own.product_row >= ${sinceRow}
    ) as listed
    cross join (select 1 as is_group union all select 0) as part
    inner join products on products.account_id = ${accountId} and products.id = listed.product_row
    where ${dialect.testRows(sql`(is_group = 0 and own_reviews > 0) or group_reviews > 0`)}
      and ${dialect.testRows(sql`own_updated_at >= ${changedSince} or group_updated_at >= ${changedSince}`)}
    order by listed.product_row, is_group desc limit ${count} offset ${offset}`;
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
