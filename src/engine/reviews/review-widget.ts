import { sql } from "kysely";
import type * as z from "zod";
import { type contract, reviewPage, type ReviewSort, type WidgetPage } from "../../contract/index.ts";
import { createStatement } from "../../storage/statement.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type ReviewImage, toSocialLinks, toWidgetReview, type WidgetRow } from "./review-response.ts";
import { seoPageUrl } from "../kernel/seo-page-url.ts";
import { averageScore, noStars, siteTarget, type Stars, sumStars } from "./rating-targets.ts";

type Query = Omit<z.output<typeof contract.reviews.widget.input>, "product_id">;

interface ShelfProduct {
  readonly id: number;
  readonly product_id: string;
  readonly name: string;
  readonly url: string;
  readonly product_tags: string | null;
}

interface Shelf {
  readonly key: string;
  readonly stars: Stars;
  /** Absent for the store's own. */
  readonly product?: ShelfProduct;
}

/**
 * A product's reviews as its page shows them.
 * Assumed: the latest first where no order is asked for; ties are broken by time, then by id; pages hold 10, at most
 * 150; a product that is not there has no reviews, as its page asks before the first.
 */
export async function readWidget(
  { product_id, ...query }: z.output<typeof contract.reviews.widget.input>,
  context: HandlerContext,
): Promise<WidgetPage> {
  const shelf = await findShelf(product_id, context);
  return readPage(shelf, query, context);
}

/** The reviews of the store itself. */
export async function readSiteWidget(query: Query, context: HandlerContext): Promise<WidgetPage> {
  const key = siteTarget(accountOf(context).id);
  const { rows } = await selectTotals(context.transaction, context.dialect, { key });
  return readPage({ key, stars: rows[0] ? toStars(rows[0]) : noStars }, query, context);
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

const selectTotals = createStatement<{ key: string }, StarColumns>(
  (slot) => sql`select ${starColumns} from review_totals where shelf = ${slot("key")}`,
);

/** A product with the shelf that it is read from, and what stands there. */
const selectShelf = createStatement<
  { accountId: number; productId: string },
  ShelfProduct & StarColumns & { readonly group_row: number | null }
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

async function findShelf(productId: string, context: HandlerContext): Promise<Shelf> {
  const { rows } = await selectShelf(context.transaction, context.dialect, {
    accountId: accountOf(context).id,
    productId,
  });
  const [found] = rows;
  // A shelf that no review stands on.
  if (!found) return { key: "", stars: noStars };
  const key = found.group_row === null ? `p${found.id}` : `g${found.group_row}`;
  return { key, stars: toStars(found), product: found };
}

async function readPage(shelf: Shelf, query: Query, context: HandlerContext): Promise<WidgetPage> {
  const { stars, product } = shelf;
  const { reviews: total, score } = sumStars(stars);
  const per_page = Math.min(query.per_page ?? reviewPage.default, reviewPage.max);
  const page = Math.max(query.page ?? 1, 1);
  const matching = query.star === undefined ? total : (stars[query.star - 1] ?? 0);
  const rows = await readRows(shelf, { ...query, matching, per_page, page }, context);
  const images = await findImages(rows, context);
  return {
    pagination: { page, per_page, total: matching },
    bottomline: {
      total_review: total,
      average_score: averageScore({ reviews: total, score }),
      star_distribution: { 1: stars[0], 2: stars[1], 3: stars[2], 4: stars[3], 5: stars[4] },
      custom_fields_bottomline: null,
    },
    products: product ? [toWidgetProduct(product, context)] : [],
    product_tags: product?.product_tags ? product.product_tags.split(",").map((tag) => tag.trim()) : [],
    reviews: rows.map((row) => toWidgetReview(row, images.get(row.id) ?? [], context.publicUrl)),
  };
}

function toWidgetProduct({ id, product_id, name, url }: ShelfProduct, context: HandlerContext) {
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
  /** Reviews that match, over all pages. */
  readonly matching: number;
  readonly per_page: number;
  readonly page: number;
}

async function readRows(shelf: Shelf, page: Page, context: HandlerContext): Promise<readonly WidgetRow[]> {
  const offset = (page.page - 1) * page.per_page;
  const limit = Math.min(page.per_page, page.matching - offset);
  if (limit <= 0) return [];
  // Counted from the nearer end, so that the last page costs what the first one does.
  const isFromEnd = offset > page.matching / 2;
  const isFirst = offset === 0;
  const key = [
    page.star === undefined ? "" : "star",
    isFirst,
    isFromEnd,
    page.direction,
    ...(page.sort ?? []),
  ].join(" ");
  const select = selects.get(key) ?? createSelect(page, { isFirst, isFromEnd });
  if (selects.size >= maxSelects) selects.clear();
  selects.set(key, select);
  const { rows } = await select(context.transaction, context.dialect, {
    shelf: shelf.key,
    star: page.star ?? 0,
    limit,
    offset: isFromEnd ? page.matching - offset - limit : offset,
  });
  return rows;
}

const maxSelects = 200;

/** Built once for each order that is asked for, of which there are few in use. */
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

/** A later page's ids come from an index alone; rows and authors are looked up for these only. */
function createSelect(
  { sort = ["date"], direction = "DESC", star }: Query,
  { isFirst, isFromEnd }: { readonly isFirst: boolean; readonly isFromEnd: boolean },
) {
  const columns = [...new Set([...sort.map((name) => columnOf[name]), "created_at", "id"])];
  const isDescending = direction === "DESC";
  const orderBy = (descends: boolean) =>
    sql.raw(columns.map((column) => `reviews.${column} ${descends ? "desc" : "asc"}`).join(", "));
  return createStatement<{ shelf: string; star: number; limit: number; offset: number }, WidgetRow>(
    (slot) => {
      const page = sql`where reviews.shelf = ${slot("shelf")} and reviews.published = 1
      ${star === undefined ? sql`` : sql`and reviews.score = ${slot("star")}`}
      order by ${orderBy(isDescending !== isFromEnd)} limit ${slot("limit")}`;
      const rows = sql`select ${rowColumns} from reviews inner join users on users.id = reviews.user_row`;
      if (isFirst) return sql`${rows} ${page}`;
      return sql`${rows} where reviews.id in (select reviews.id from reviews ${page} offset ${slot("offset")})
      order by ${orderBy(isDescending)}`;
    },
  );
}

async function findImages(
  rows: readonly WidgetRow[],
  { transaction }: HandlerContext,
): Promise<ReadonlyMap<number, readonly ReviewImage[]>> {
  const ids = rows.filter(({ images }) => images > 0).map(({ id }) => id);
  const byReview = new Map<number, ReviewImage[]>();
  if (ids.length === 0) return byReview;
  const found = await transaction
    .selectFrom("review_images")
    .select(["id", "review_row"])
    .where("review_row", "in", ids)
    .orderBy("id")
    .execute();
  for (const image of found) {
    byReview.set(image.review_row, [...(byReview.get(image.review_row) ?? []), image]);
  }
  return byReview;
}
