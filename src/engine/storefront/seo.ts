import {
  type contract,
  invalidField,
  type SeoPage,
  seoPageReviews,
  siteReviewsId,
  unnamedPage,
  type WidgetPage,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { requireProduct, unknownProduct } from "../products/product-lookup.ts";
import { openProductView } from "../products/product-view.ts";
import { isSlugOfOwner, myReviewsUrl, seoPageUrl } from "../kernel/slug.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { anonymousType } from "../reviews/review-response.ts";
import { readSiteWidget, readWidget } from "../reviews/review-widget.ts";

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

  page: async ({ product_id }, context) => {
    const page = await readSeoPage(product_id, { per_page: seoPageReviews }, context);
    if (!page) throw unknownProduct(product_id ?? siteReviewsId);
    return { page: { ...page, my_reviews_url: myReviewsUrl(accountOf(context).appKey, context) } };
  },
};

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
  const product = await selectAccountRows("products", accountOf(context).id, context.transaction)
    .select(["product_id", "name", "url", "image_url", "description", "named_by_visitor"])
    .where("product_id", "=", productId)
    .executeTakeFirst();
  if (!product) return undefined;
  const { show } = await openProductView([product], accountOf(context).id, context);
  const { name, url, image_url, description } = show(product);
  const rated = toRated(await readWidget({ product_id: productId, ...paging }, context));
  return { product_id: productId, name, url, image_url, description, ...rated };
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
