import { type RawBuilder, sql } from "kysely";
import type * as z from "zod";
import { type contract, reviewPage, type ReviewSort, type WidgetPage } from "../../contract/index.ts";
import { createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { linkedUrl } from "./photo-storage.ts";
import { type ReviewImage, toSocialLinks, toWidgetReview, type WidgetRow } from "./review-response.ts";
import { showsPhotos } from "./review-parts.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import { openProductView } from "../products/product-view.ts";
import { siteTarget, targetOfProduct } from "./rating-targets.ts";
import { averageScore, readProductStars, readStars, type Stars, sumStars } from "./star-totals.ts";

type Query = Omit<z.output<typeof contract.reviews.widget.input>, "product_id">;

type ShownProduct = Pick<Row<"products">, "id" | "product_id" | "name" | "url" | "product_tags" | "named_by_visitor">;

/**
 * Reads a product's reviews for display on its page.
 * Assumed: reviews are sorted latest first by default; ties are broken by time, then ID; pages have 10 reviews by default
 * and at most 150; an unknown product has no reviews, because its page may request them before the first review.
 */
export async function readWidget(
  { product_id, ...query }: z.output<typeof contract.reviews.widget.input>,
  context: HandlerContext,
): Promise<WidgetPage> {
  const product = { accountId: accountOf(context).id, productId: product_id };
  const { transaction, dialect } = context;
  return readPage(query, context, {
    rows: { product: product_id },
    readStars: () => readProductStars(product, context),
    readProducts: async () => (await selectShownProducts(transaction, dialect, product)).rows,
  });
}

/** Reads the reviews of the store. */
export async function readSiteWidget(query: Query, context: HandlerContext): Promise<WidgetPage> {
  const { id: accountId } = accountOf(context);
  const target = siteTarget(accountId);
  return readPage(query, context, {
    rows: { target },
    readStars: () => readStars({ accountId, target }, context),
    readProducts: async () => [],
  });
}

/** Selects a product, and then the other products of its group, in the order of their creation. */
const selectShownProducts = createStatement<{ accountId: number; productId: string }, ShownProduct>(
  (slot) => sql`
    select shown.id, shown.product_id, shown.name, shown.url, shown.product_tags, shown.named_by_visitor
    from products as own
    left join group_products as grouped on grouped.account_id = own.account_id and grouped.product_row = own.id
    left join group_products as member
      on member.account_id = own.account_id and member.group_row = grouped.group_row
    inner join products as shown
      on shown.account_id = own.account_id and shown.id = coalesce(member.product_row, own.id)
    where own.account_id = ${slot("accountId")} and own.product_id = ${slot("productId")}
    order by case when shown.id = own.id then 0 else 1 end, shown.id`,
);

/** What a widget shows, and how to read it. */
interface Shown {
  /** The rating target, or the product whose target it is. */
  readonly rows: { readonly target: string } | { readonly product: string };
  readonly readStars: () => Promise<Stars>;
  readonly readProducts: () => Promise<readonly ShownProduct[]>;
}

/** Reads the first page without waiting for the totals, which only other pages need. */
async function readPage(query: Query, context: HandlerContext, shown: Shown): Promise<WidgetPage> {
  const per_page = Math.min(query.per_page ?? reviewPage.default, reviewPage.max);
  const page = Math.max(query.page ?? 1, 1);
  const readRows = (matching: number) => selectRows(shown.rows, { ...query, matching, per_page, page }, context);
  const [stars, products, first] = await context.dialect.runAll([
    shown.readStars,
    shown.readProducts,
    async () => (page === 1 ? readRows(per_page) : undefined),
  ]);
  const { reviews: total, score } = sumStars(stars);
  const matching = query.star === undefined ? total : (stars[query.star - 1] ?? 0);
  const rows = first ?? (await readRows(matching));
  const { show } = await openProductView(products, accountOf(context).id, context);
  const shownProducts = products.map(show);
  const tags = shownProducts[0]?.product_tags;
  return {
    pagination: { page, per_page, total: matching },
    bottomline: {
      total_review: total,
      average_score: averageScore({ reviews: total, score }),
      star_distribution: { 1: stars[0], 2: stars[1], 3: stars[2], 4: stars[3], 5: stars[4] },
      custom_fields_bottomline: null,
    },
    products: shownProducts.map((product) => toWidgetProduct(product, context)),
    product_tags: tags ? tags.split(",").map((tag) => tag.trim()) : [],
    reviews: rows.map((row) => toWidgetReview(row, parseImages(row), context.publicUrl)),
  };
}

function toWidgetProduct({ id, product_id, name, url }: ShownProduct, context: HandlerContext) {
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

type StoredRow = WidgetRow & { readonly image_list: string | null };

interface Page extends Query {
  /** Number of matching reviews on all pages. */
  readonly matching: number;
  readonly per_page: number;
  readonly page: number;
}

async function selectRows(shown: Shown["rows"], page: Page, context: HandlerContext): Promise<readonly StoredRow[]> {
  const offset = (page.page - 1) * page.per_page;
  const limit = Math.min(page.per_page, page.matching - offset);
  if (limit <= 0) return [];
  // Reads from the nearer end, so that the last page is as fast as the first.
  const isFromEnd = offset > page.matching / 2;
  const isFirst = offset === 0;
  const isOfProduct = "product" in shown;
  const hasStar = page.star !== undefined;
  const key = [isOfProduct, hasStar, isFirst, isFromEnd, page.direction, ...(page.sort ?? [])].join(" ");
  const select = selects.get(key) ?? createSelect(page, { isOfProduct, isFirst, isFromEnd });
  if (selects.size >= maxSelects) selects.clear();
  selects.set(key, select);
  const { rows } = await select(context.transaction, context.dialect, {
    accountId: accountOf(context).id,
    target: isOfProduct ? shown.product : shown.target,
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
    "id, product_row, score, votes_up, votes_down, content, title, created_at, reviewer_type, comment, comment_at, images, received_coupon"
      .split(", ")
      .map((column) => `reviews.${column}`),
    "users.id as user_id, users.display_name, users.kind, users.social_image",
  ].join(", "),
);

const imageText = sql.join(
  ["id", "width", "height", "color"]
    .map((column) => sql`coalesce(cast(${sql.ref(`review_images.${column}`)} as text), '')`)
    .concat(sql`coalesce(${linkedUrl}, '')`),
  sql` || ' ' || `,
);

/** The images of a review: for each its ID, dimensions, color, and URL, with spaces between. URLs contain no white space. */
const imageList = (accountId: RawBuilder<unknown>) => sql`
  case when reviews.images > 0 and ${showsPhotos} then (
    select string_agg(${imageText}, '\t' order by review_images.id)
    from review_images where review_images.account_id = ${accountId} and review_images.review_row = reviews.id
  ) end as image_list`;

function parseImages({ id, image_list: list }: StoredRow): ReviewImage[] {
  return (list?.split("\t") ?? []).map((image) => {
    const [imageId, width, height, color, url] = image.split(" ");
    const numberOf = (text = "") => (text === "" ? null : Number(text));
    return {
      id: Number(imageId),
      review_row: id,
      width: numberOf(width),
      height: numberOf(height),
      color: color || null,
      url: url || null,
    };
  });
}

/** Creates the query for a page. On later pages, IDs are selected using only an index, before rows are joined. */
function createSelect(
  { sort = ["date"], direction = "DESC", star }: Query,
  { isOfProduct, isFirst, isFromEnd }: Readonly<Record<"isOfProduct" | "isFirst" | "isFromEnd", boolean>>,
) {
  const columns = [...new Set([...sort.map((name) => columnOf[name]), "created_at", "id"])];
  const isDescending = direction === "DESC";
  const orderBy = (descends: boolean) =>
    sql.raw(columns.map((column) => `reviews.${column} ${descends ? "desc" : "asc"}`).join(", "));
  type Values = { accountId: number; target: string; star: number; limit: number; offset: number };
  return createStatement<Values, StoredRow>((slot) => {
    const accountId = slot("accountId");
    const isOwn = sql`reviews.account_id = ${accountId}`;
    const target = isOfProduct ? targetOfProduct({ accountId, productId: slot("target") }) : slot("target");
    const page = sql`where ${isOwn} and reviews.rating_target = ${target} and reviews.published = 1
      ${star === undefined ? sql`` : sql`and reviews.score = ${slot("star")}`}
      order by ${orderBy(isDescending !== isFromEnd)} limit ${slot("limit")}`;
    const withAuthor = sql`inner join users on users.account_id = reviews.account_id and users.id = reviews.user_row`;
    const selected = sql`${rowColumns}, ${imageList(accountId)}`;
    if (isFirst) return sql`select ${selected} from reviews ${withAuthor} ${page}`;
    // A cross join, so that SQLite does not read all reviews of the account.
    return sql`select ${selected}
      from (select reviews.id from reviews ${page} offset ${slot("offset")}) as paged
      cross join reviews ${withAuthor}
      where ${isOwn} and reviews.id = paged.id
      order by ${orderBy(isDescending)}`;
  });
}
