import type * as z from "zod";
import {
  type contract,
  type FullSeoPage,
  invalidField,
  type SeoPage,
  seoPageSizes,
  type SeoReview,
  siteReviewsId,
  type StorefrontReview,
  unnamedPage,
  type WidgetPage,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { requireProduct, unknownProduct } from "../products/product-lookup.ts";
import { openProductView } from "../products/product-view.ts";
import { isSlugOfOwner, myReviewsUrl, seoPageUrl } from "../kernel/slug.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { hasFeature } from "../accounts/account-settings.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { selectBestProducts } from "../reviews/promoted-products.ts";
import { readRatings } from "../reviews/star-totals.ts";
import { anonymousType } from "../reviews/review-response.ts";
import { readSiteWidget, readWidget } from "../reviews/review-widget.ts";
import { listPublicQuestions } from "./published-questions.ts";
import { listPhotos, listReviews } from "./published-reviews.ts";

/** A label of a host name. Source: RFC 1035 2.3.1, RFC 1123 2.1. */
const hostLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Subdomains that are never available. Assumed: these are names that services commonly use for their own hosts. */
const reserved: ReadonlySet<string> = new Set(
  (
    "admin api app assets blog cdn dev docs ftp help imap localhost login " +
    "mail ns1 ns2 pop smtp staging static status support test webmail www"
  ).split(" "),
);

export const seoHandlers: Handlers<typeof contract.seo> = {
  /**
   * Checks whether a subdomain is available.
   * Assumed: the slugs of account owners are their subdomains, ignoring case.
   * @throws ServiceError `invalidParams` if the subdomain is not a valid host name label
   */
  checkSubdomain: async ({ subdomain }, context) => {
    const name = subdomain.toLowerCase();
    if (!hostLabel.test(name)) {
      throw invalidField(
        "subdomain",
        "must have at most 63 letters, digits, and dashes, and must not start or end with a dash",
      );
    }
    const isTaken = reserved.has(name) || (await isSlugOfOwner(name, context.transaction));
    return { subdomain: { available: isTaken ? "false" : "true", subdomain } };
  },

  /**
   * Assumed: an unknown product has no page; the store's page always exists.
   * @throws ServiceError `recordNotFound`
   */
  pageUrl: async ({ product_id }, context) => {
    const productId = product_id === siteReviewsId ? undefined : product_id;
    if (productId !== undefined) await requireProduct(productId, context);
    const { appKey } = accountOf(context);
    return { seo_page_url: seoPageUrl({ publicUrl: context.publicUrl, appKey, productId }) };
  },

  page: async (query, context) => ({ page: await readFullPage(query, context) }),
};

type PageQuery = z.output<typeof contract.seo.page.input>;

/**
 * Reads a page of a product's reviews (or of its group), or of the store's own reviews, with photos and questions.
 * Assumed: without a product, the page lists the rated products and the latest reviews, and starts with the store's own.
 * @throws ServiceError `recordNotFound` for an unknown product
 */
async function readFullPage(query: PageQuery, context: HandlerContext): Promise<FullSeoPage> {
  const { product_id = siteReviewsId, sort = "newest", stars, questions_page } = query;
  const isOverview = query.product_id === undefined;
  const isStore = product_id === siteReviewsId;
  const described = isStore ? await describeStore(context) : await describeProduct(product_id, context);
  if (!described) throw unknownProduct(product_id);
  const paging = isOverview
    ? { per_page: seoPageSizes.siteReviews }
    : { page: query.page, per_page: seoPageSizes.reviews, stars: stars === undefined ? undefined : [stars] };
  const { rating, pagination, reviews } = await listReviews({ product_id, sort, ...paging }, context);
  const { photos } = await listPhotos({ product_id, per_page: seoPageSizes.photos }, context);
  const { appKey } = accountOf(context);
  const productId = isOverview ? undefined : product_id;
  return {
    ...described,
    ...rating,
    pagination,
    stars: stars ?? null,
    sort,
    reviews: reviews.map(toSeoReview),
    photos: photos.map(({ review: { display_name }, id, width, height, color, sizes }) => {
      return { id, width, height, color, sizes, display_name };
    }),
    questions: await listPublicQuestions(
      { product_id, page: questions_page, per_page: seoPageSizes.questions },
      context,
    ),
    ...(isOverview && { overview: await readOverview(query, context) }),
    takes_questions: !isStore && (await hasFeature(context, "questions_and_answers")),
    page_url: seoPageUrl({ publicUrl: context.publicUrl, appKey, productId }),
    my_reviews_url: myReviewsUrl(appKey, context),
  };
}

/** Reads a page of the rated products, and the latest reviews. */
async function readOverview({ page = 1 }: PageQuery, context: HandlerContext) {
  const per_page = seoPageSizes.products;
  const counted = await selectBestProducts(context)
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  const found = await selectBestProducts(context)
    .select(["products.product_id", "products.name", "products.url", "products.image_url", "named_by_visitor"])
    .limit(per_page)
    .offset((page - 1) * per_page)
    .execute();
  const ids = found.map(({ product_id }) => product_id);
  const ratings = new Map((await readRatings(ids, context)).map((rating) => [rating.product_id, rating]));
  const { show } = await openProductView(found, accountOf(context).id, context);
  const { reviews } = await listReviews({ per_page: seoPageSizes.latestReviews }, context);
  return {
    pagination: { page, per_page, total: counted.total },
    products: found.map(show).map(({ product_id, name, url, image_url }) => {
      const { average_score, total_reviews } = ratings.get(product_id) ?? { average_score: 0, total_reviews: 0 };
      return { product_id, name, url, image_url, average_score, total_reviews };
    }),
    latest_reviews: reviews.map(toSeoReview),
  };
}

export function toSeoReview({ comment, ...review }: StorefrontReview): SeoReview {
  return { ...review, comment: comment?.content ?? null };
}

/** The page of reviews to show; the latest come first. */
interface Paging {
  readonly page?: number | undefined;
  readonly per_page?: number | undefined;
}

/**
 * Reads a product with its published reviews (or those of its group), or the store with its reviews if no product is
 * specified. Returns undefined if the product does not exist.
 */
export async function readSeoPage(
  productId: string | undefined,
  paging: Paging,
  context: HandlerContext,
): Promise<SeoPage | undefined> {
  if (productId === undefined || productId === siteReviewsId) {
    return { ...(await describeStore(context)), ...toRated(await readSiteWidget(paging, context)) };
  }
  const product = await describeProduct(productId, context);
  return product && { ...product, ...toRated(await readWidget({ product_id: productId, ...paging }, context)) };
}

async function describeProduct(productId: string, context: HandlerContext) {
  const product = await selectAccountRows("products", accountOf(context).id, context.transaction)
    .select(["product_id", "name", "url", "image_url", "description", "named_by_visitor"])
    .where("product_id", "=", productId)
    .executeTakeFirst();
  if (!product) return undefined;
  const { show } = await openProductView([product], accountOf(context).id, context);
  const { name, url, image_url, description } = show(product);
  return { product_id: productId, name, url, image_url, description };
}

/** Assumed: a store without a name is shown as "This store" (`unnamedPage`), in the language of the page. */
async function describeStore(context: HandlerContext) {
  const { displayName, domain } = await readAccountProfile(context);
  return { product_id: null, name: displayName || unnamedPage, url: domain, image_url: null, description: null };
}

function toRated({ bottomline, reviews }: WidgetPage) {
  return {
    average_score: bottomline.average_score,
    total_reviews: bottomline.total_review,
    reviews: reviews.map(
      ({ id, title, content, score, user, verified_buyer, comment, created_at, received_coupon }) => ({
        id,
        title,
        content,
        score,
        display_name: user.display_name,
        verified_buyer,
        anonymous: user.user_type === anonymousType,
        comment: comment?.content ?? null,
        created_at,
        ...(received_coupon && { received_coupon }),
      }),
    ),
  };
}
