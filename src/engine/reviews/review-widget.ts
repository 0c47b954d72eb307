import { sql } from "kysely";
import type * as z from "zod";
import { type contract, reviewPage, type ReviewSort, type WidgetPage } from "../../contract/index.ts";
import { createStatement } from "../../storage/statement.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { findImages } from "./review-parts.ts";
import { toSocialLinks, toWidgetReview, type WidgetRow } from "./review-response.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import {
  averageScore,
  groupTarget,
  noStars,
  productTarget,
  siteTarget,
  type Stars,
  sumStars,
} from "./rating-targets.ts";

type Query = Omit<z.output<typeof contract.reviews.widget.input>, "product_id">;

interface RatedProduct {
  readonly id: number;
  readonly product_id: string;
  readonly name: string;
  readonly url: string;
  readonly product_tags: string | null;
}

/** A rating target with its totals. */
interface Ratings {
  readonly target: string;
  readonly stars: Stars;
  /** Absent for the store. */
  readonly product?: RatedProduct;
  readonly groupRow?: number | undefined;
}

/**
 * Reads a product's reviews for display on its page.
 * Assumed: reviews are sorted latest first by default; ties are broken by time, then ID; pages have 10 reviews by default
 * and at most 150; an unknown product has no reviews, because its page may request them before the first review.
 */
export async function readWidget(
  { product_id, ...query }: z.output<typeof contract.reviews.widget.input>,
  context: HandlerContext,
): Promise<WidgetPage> {
  return readPage(await findRatings(product_id, context), query, context);
}

/** Reads the reviews of the store. */
export async function readSiteWidget(query: Query, context: HandlerContext): Promise<WidgetPage> {
  const target = siteTarget(accountOf(context).id);
  const { rows } = await selectTotals(context.transaction, context.dialect, { target });
  return readPage({ target, stars: rows[0] ? toStars(rows[0]) : noStars }, query, context);
}

interface StarColumns {
  readonly stars_1: number | null;
  readonly stars_2: number | null;
  readonly stars_3: number | null;
  readonly stars_4: number | null;
  readonly stars_5: number | null;
}

const starColumns = sql.raw([1, 2, 3, 4, 5].map((star) => `review_totals.stars_${star}`).join(", "));

function toStars({ stars_1, stars_2, stars_3, stars_4, stars_5 }: StarColumns): Stars {
  return [stars_1 ?? 0, stars_2 ?? 0, stars_3 ?? 0, stars_4 ?? 0, stars_5 ?? 0];
}

const selectTotals = createStatement<{ target: string }, StarColumns>(
  (slot) => sql`select ${starColumns} from review_totals where shelf = ${slot("target")}`,
);

/** Selects a product with the totals of its rating target. */
const selectRatings = createStatement<
  { accountId: number; productId: string },
  RatedProduct & StarColumns & { readonly group_row: number | null }
>(
  (slot) => sql`
    select products.id, products.product_id, products.name, products.url, products.product_tags,
      group_products.group_row, ${starColumns}
    from products
    left join group_products on group_products.product_row = products.id
    left join review_totals on review_totals.shelf = case when group_products.group_row is null
      then 'p' || cast(products.id as text) else 'g' || cast(group_products.group_row as text) end
    where products.account_id = ${slot("accountId")} and products.product_id = ${slot("productId")}`,
);

async function findRatings(productId: string, context: HandlerContext): Promise<Ratings> {
  const { rows } = await selectRatings(context.transaction, context.dialect, {
    accountId: accountOf(context).id,
    productId,
  });
  const [found] = rows;
  // An empty target matches no reviews.
  if (!found) return { target: "", stars: noStars };
  const target = found.group_row === null ? productTarget(found.id) : groupTarget(found.group_row);
  return { target, stars: toStars(found), product: found, groupRow: found.group_row ?? undefined };
}

async function readPage(ratings: Ratings, query: Query, context: HandlerContext): Promise<WidgetPage> {
  const { target, stars, product, groupRow } = ratings;
  const { reviews: total, score } = sumStars(stars);
  const per_page = Math.min(query.per_page ?? reviewPage.default, reviewPage.max);
  const page = Math.max(query.page ?? 1, 1);
  const matching = query.star === undefined ? total : (stars[query.star - 1] ?? 0);
  const rows = await readRows(target, { ...query, matching, per_page, page }, context);
  const images = await findImages(rows, context);
  const others = product && groupRow !== undefined ? await findOtherProducts(product.id, groupRow, context) : [];
  return {
    pagination: { page, per_page, total: matching },
    bottomline: {
      total_review: total,
      average_score: averageScore({ reviews: total, score }),
      star_distribution: { 1: stars[0], 2: stars[1], 3: stars[2], 4: stars[3], 5: stars[4] },
      custom_fields_bottomline: null,
    },
    products: [...(product ? [product] : []), ...others].map((named) => toWidgetProduct(named, context)),
    product_tags: product?.product_tags ? product.product_tags.split(",").map((tag) => tag.trim()) : [],
    reviews: rows.map((row) => toWidgetReview(row, images.get(row.id) ?? [], context.publicUrl)),
  };
}

type NamedProduct = Omit<RatedProduct, "product_tags">;

/** Finds the other products of a group, in the order of their creation. */
function findOtherProducts(
  productRow: number,
  groupRow: number,
  { transaction }: HandlerContext,
): Promise<readonly NamedProduct[]> {
  return transaction
    .selectFrom("group_products")
    .innerJoin("products", "products.id", "group_products.product_row")
    .select(["products.id", "products.product_id", "products.name", "products.url"])
    .where("group_products.group_row", "=", groupRow)
    .where("group_products.product_row", "!=", productRow)
    .orderBy("group_products.product_row")
    .execute();
}

function toWidgetProduct({ id, product_id, name, url }: NamedProduct, context: HandlerContext) {
  const { publicUrl } = context;
  const page = seoPageUrl({ publicUrl, appKey: accountOf(context).appKey, productId: product_id });
  return {
    id,
    domain_key: product_id,
    name,
    social_links: toSocialLinks(page),
    embedded_widget_link: page,
    testimonials_product_link: page,
    product_link: url,
  };
}

interface Page extends Query {
  /** Number of matching reviews on all pages. */
  readonly matching: number;
  readonly per_page: number;
  readonly page: number;
}

async function readRows(target: string, page: Page, context: HandlerContext): Promise<readonly WidgetRow[]> {
  const offset = (page.page - 1) * page.per_page;
  const limit = Math.min(page.per_page, page.matching - offset);
  if (limit <= 0) return [];
  // Reads from the nearer end, so that the last page is as fast as the first.
  const isFromEnd = offset > page.matching / 2;
  const isFirst = offset === 0;
  const key = [page.star === undefined ? "" : "star", isFirst, isFromEnd, page.direction, ...(page.sort ?? [])].join(
    " ",
  );
  const select = selects.get(key) ?? createSelect(page, { isFirst, isFromEnd });
  if (selects.size >= maxSelects) selects.clear();
  selects.set(key, select);
  const { rows } = await select(context.transaction, context.dialect, {
    target,
    star: page.star ?? 0,
    limit,
    offset: isFromEnd ? page.matching - offset - limit : offset,
  });
  return rows;
}

const maxSelects = 200;

/** Statements by sort order, of which few are in use. */
const selects = new Map<string, ReturnType<typeof createSelect>>();

const columnOf: Readonly<Record<ReviewSort, string>> = {
  date: "created_at",
  time: "created_at",
  rating: "score",
  votes_up: "votes_up",
  votes_down: "votes_down",
  reviewer_type: "reviewer_type",
};

const rowColumns = sql.raw(
  [
    "id, product_row, score, votes_up, votes_down, content, title, created_at, reviewer_type, comment, comment_at, images"
      .split(", ")
      .map((column) => `reviews.${column}`),
    "users.id as user_id, users.display_name, users.kind, users.social_image",
  ].join(", "),
);

/** Creates the query for a page. On later pages, IDs are selected using only an index, before rows are joined. */
function createSelect(
  { sort = ["date"], direction = "DESC", star }: Query,
  { isFirst, isFromEnd }: { readonly isFirst: boolean; readonly isFromEnd: boolean },
) {
  const columns = [...new Set([...sort.map((name) => columnOf[name]), "created_at", "id"])];
  const isDescending = direction === "DESC";
  const orderBy = (descends: boolean) =>
    sql.raw(columns.map((column) => `reviews.${column} ${descends ? "desc" : "asc"}`).join(", "));
  return createStatement<{ target: string; star: number; limit: number; offset: number }, WidgetRow>((slot) => {
    const page = sql`where reviews.shelf = ${slot("target")} and reviews.published = 1
      ${star === undefined ? sql`` : sql`and reviews.score = ${slot("star")}`}
      order by ${orderBy(isDescending !== isFromEnd)} limit ${slot("limit")}`;
    const rows = sql`select ${rowColumns} from reviews inner join users on users.id = reviews.user_row`;
    if (isFirst) return sql`${rows} ${page}`;
    return sql`${rows} where reviews.id in (select reviews.id from reviews ${page} offset ${slot("offset")})
      order by ${orderBy(isDescending)}`;
  });
}
