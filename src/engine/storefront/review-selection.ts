import { type RawBuilder, sql } from "kysely";
import type * as z from "zod";
import {
  type contract,
  invalidField,
  searchPage,
  siteReviewsId,
  storefrontPage,
  type StorefrontSort,
} from "../../contract/index.ts";
import { batchOfIds } from "../../storage/batch.ts";
import { listPhrases, listWords } from "../../storage/search-index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type Condition, findPage } from "../kernel/lists/filtered-list.ts";
import type { FoundProduct } from "../products/product-lookup.ts";
import { accountTarget, productTarget, siteTarget, targetOfProduct } from "../reviews/rating-targets.ts";
import { reviewTags } from "../reviews/review-index.ts";
import { showsPhotos } from "../reviews/review-parts.ts";
import { noStars, readStars, type StarColumns, type Stars, sumStars, toStars } from "../reviews/star-totals.ts";

type Query = z.output<typeof contract.storefront.reviews.input>;
type Paging = Readonly<Record<"page" | "per_page", number>>;

export function toPaging({ page = 1, per_page = storefrontPage.default }: Pick<Query, "page" | "per_page">): Paging {
  return { page, per_page: Math.min(per_page, storefrontPage.max) };
}

/** The published reviews of a product (or of its group), of the shop, or of all products. */
export interface PublishedReviews {
  readonly product: FoundProduct | undefined;
  /** What an index lists; undefined if the product is unknown. */
  readonly condition: Condition | undefined;
  readonly stars: Stars;
  /** The tag that they have in the index of words, if they have one in common. */
  readonly tag: string | undefined;
}

/** @param productId `service_site_reviews` for the shop; undefined for all products */
export async function findPublished(productId: string | undefined, context: HandlerContext): Promise<PublishedReviews> {
  const { id: accountId } = accountOf(context);
  const read = (target: string) => readStars({ accountId, target }, context);
  if (productId === undefined) {
    const [every, ofSite] = [await read(accountTarget(accountId)), await read(siteTarget(accountId))];
    const stars = every.map((count, at) => count - (ofSite[at] ?? 0)) as unknown as Stars;
    const condition = sql<boolean>`reviews.published = 1 and reviews.product_row is not null`;
    return { product: undefined, condition, stars, tag: undefined };
  }
  const product = productId === siteReviewsId ? undefined : await findProduct(productId, context);
  const target = productId === siteReviewsId ? siteTarget(accountId) : product?.target;
  if (target === undefined) return { product: undefined, condition: undefined, stars: noStars, tag: undefined };
  const isInGroup = product !== undefined && target !== productTarget(product.id);
  return {
    product,
    condition: sql`reviews.published = 1 and reviews.rating_target = ${target}`,
    stars: await read(target),
    tag: isInGroup ? undefined : reviewTags.product(product?.id ?? null),
  };
}

/** Finds a product, and the rating target of its reviews. */
async function findProduct(productId: string, context: HandlerContext) {
  const { id: accountId } = accountOf(context);
  return selectAccountRows("products", accountId, context.transaction)
    .select(["id", "product_id", "name", "url", "image_url", "named_by_visitor"])
    .select(targetOfProduct({ accountId: sql`${accountId}`, productId: sql`${productId}` }).as("target"))
    .where("product_id", "=", productId)
    .executeTakeFirst();
}

/** The reviews that match a query: how many without the filter of stars, how many with it, and the IDs of a page. */
interface Matches {
  readonly counted: Stars;
  readonly total: number;
  readonly ids: readonly number[];
}

/**
 * Finds the reviews that match a query.
 * Assumed: a page beyond the last one is empty; ties are broken by time, then ID. A search finds the latest `searchPage.max`
 * reviews that contain the words. Reviews that are chosen by their IDs keep that order, unless a sort order is given.
 * @throws ServiceError `invalidParams` for the most helpful reviews of all products, which no index lists
 */
export async function findMatches(
  query: Query,
  { condition, stars, tag }: PublishedReviews,
  context: HandlerContext,
): Promise<Matches> {
  const { search, review_ids, product_id, sort } = query;
  const isBounded = search !== undefined || review_ids !== undefined;
  if (sort === "most_helpful" && product_id === undefined && !isBounded) {
    throw invalidField("sort", "most_helpful requires product_id, review_ids, or search");
  }
  if (!condition) return { counted: noStars, total: 0, ids: [] };
  const filters = listFilters(query);
  const conditions = [condition, ...filters];
  if (isBounded) {
    const tags = [...(tag === undefined ? [] : [tag]), ...(query.with_photos === true ? [reviewTags.withImages] : [])];
    const ids = review_ids ?? (await findWords(search ?? "", { conditions, tags }, context));
    return selectMatches(query, await readCandidates(ids, conditions, context));
  }
  const counted = filters.length === 0 ? stars : await countStars(conditions, context);
  const total = countMatching(counted, query);
  const page = { ...toPaging(query), sort: sort ?? "newest", total, conditions: [...conditions, ...starFilter(query)] };
  return { counted, total, ids: await selectPage(page, context) };
}

/** The condition of the index of reviews with photos. */
export const hasPhotos = sql<boolean>`(case when reviews.images > 0 then 1 else 0 end) = 1 and reviews.images > 0
  and ${showsPhotos}`;

function listFilters({ with_photos, verified }: Query): readonly Condition[] {
  const isVerified = sql<boolean>`reviews.reviewer_type = 'verified_buyer'`;
  return [...(with_photos === true ? [hasPhotos] : []), ...(verified === true ? [isVerified] : [])];
}

function starFilter({ stars }: Query): readonly Condition[] {
  return stars && stars.length > 0 ? [sql`reviews.score in (${sql.join(stars)})`] : [];
}

function hasStars({ stars = [] }: Query, score: number): boolean {
  return stars.length === 0 || stars.includes(score);
}

function countMatching(counted: Stars, query: Query): number {
  return sumStars(counted.map((count, at) => (hasStars(query, at + 1) ? count : 0))).reviews;
}

async function countStars(conditions: readonly Condition[], context: HandlerContext): Promise<Stars> {
  // Not grouped: SQLite would prefer the index of scores to that of the conditions.
  const counts = [1, 2, 3, 4, 5].map(
    (score) => sql`count(*) filter (where reviews.score = ${sql.lit(score)}) as ${sql.ref(`stars_${score}`)}`,
  );
  const { rows } = await sql<StarColumns>`
    select ${sql.join(counts)} from reviews
    where reviews.account_id = ${accountOf(context).id} and ${allOf(conditions)}`.execute(context.transaction);
  return toStars(rows);
}

const orders = {
  newest: { column: "created_at", isDescending: true },
  oldest: { column: "created_at", isDescending: false },
  highest: { column: "score", isDescending: true },
  lowest: { column: "score", isDescending: false },
  most_helpful: { column: "votes_up", isDescending: true },
} as const satisfies Readonly<Record<StorefrontSort, unknown>>;

interface Page extends Paging {
  readonly total: number;
  readonly sort: StorefrontSort;
  readonly conditions: readonly Condition[];
}

/** Selects the IDs of a page by an index, from the nearer end, so that the last page is as fast as the first. */
async function selectPage({ page, per_page, total, sort, conditions }: Page, context: HandlerContext) {
  const offset = (page - 1) * per_page;
  const limit = Math.min(per_page, total - offset);
  if (limit <= 0) return [];
  const { column, isDescending } = orders[sort];
  const isFromEnd = offset > total / 2;
  const direction = isDescending === isFromEnd ? "asc" : "desc";
  const columns = [...new Set([column, "created_at", "id"])];
  const { rows } = await sql<{ id: number }>`
    select reviews.id from reviews
    where reviews.account_id = ${accountOf(context).id} and ${allOf(conditions)}
    order by ${sql.raw(columns.map((name) => `reviews.${name} ${direction}`).join(", "))}
    limit ${limit} offset ${isFromEnd ? total - offset - limit : offset}`.execute(context.transaction);
  const ids = rows.map(({ id }) => id);
  return isFromEnd ? ids.toReversed() : ids;
}

export function allOf(conditions: readonly Condition[]): RawBuilder<unknown> {
  return sql.join([...conditions], sql` and `);
}

/** Finds the latest reviews that contain words. Their authors' names, which the index also contains, count as well. */
async function findWords(
  search: string,
  { conditions, tags }: { readonly conditions: readonly Condition[]; readonly tags: readonly string[] },
  context: HandlerContext,
): Promise<readonly number[]> {
  const [condition = sql<boolean>`1 = 1`, ...filters] = conditions;
  const list = { table: "reviews", words: "review_words", isFew: false, isNarrow: true } as const;
  const found = { ...list, parts: [condition], conditions: filters, tags: tags.map((tag) => [tag]) };
  return (await findPage(found, { search, limit: searchPage.max }, context)).ids;
}

interface Candidate extends Readonly<Record<"id" | "score" | "created_at" | "votes_up", number>> {
  readonly title: string;
  readonly content: string;
}

/** Reads reviews that meet conditions, in the order of the IDs. */
async function readCandidates(
  ids: readonly number[],
  conditions: readonly Condition[],
  context: HandlerContext,
): Promise<readonly Candidate[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Candidate>`
    select reviews.id, reviews.score, reviews.created_at, reviews.votes_up, reviews.title, reviews.content
    from ${batchOfIds(ids, context.dialect)} cross join reviews
    where reviews.account_id = ${accountOf(context).id} and reviews.id = batch.id
      and ${context.dialect.testRows(allOf(conditions))}`.execute(context.transaction);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? []);
}

/** Selects from few candidates. Nobody must find out the full name of an author, so only title and content count. */
function selectMatches(query: Query, candidates: readonly Candidate[]): Matches {
  const phrases = listPhrases(query.search ?? "").map(toSpaced);
  const found = candidates.filter(({ title, content }) => {
    const words = phrases.length === 0 ? "" : toSpaced(listWords(`${title}\n${content}`));
    return phrases.every((phrase) => words.includes(phrase));
  });
  const matching = found.filter(({ score }) => hasStars(query, score));
  const sort = query.sort ?? (query.review_ids ? undefined : "newest");
  const sorted = sort === undefined ? matching : matching.toSorted(compareBy(sort));
  const { page, per_page } = toPaging(query);
  return {
    counted: noStars.map((_, at) => found.filter(({ score }) => score === at + 1).length) as unknown as Stars,
    total: matching.length,
    ids: sorted.slice((page - 1) * per_page, page * per_page).map(({ id }) => id),
  };
}

const toSpaced = (words: readonly string[]) => ` ${words.join(" ")} `;

function compareBy(sort: StorefrontSort): (a: Candidate, b: Candidate) => number {
  const { column, isDescending } = orders[sort];
  const sign = isDescending ? -1 : 1;
  return (a, b) => sign * (a[column] - b[column] || a.created_at - b.created_at || a.id - b.id);
}
