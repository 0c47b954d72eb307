import { type contract, seoPageReviews, ServiceError, siteReviewsId } from "../../contract/index.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { requireProduct, unknownProduct } from "../products/product-lookup.ts";
import { readSeoPage } from "./seo-page.ts";
import { seoPageUrl } from "../kernel/seo-page-url.ts";

/** A part of a host's name. Source: RFC 1035 2.3.1, RFC 1123 2.1. */
const hostLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Assumed: names that hosts of a service have themselves are nobody's. */
const reserved: ReadonlySet<string> = new Set([
  "admin",
  "api",
  "app",
  "assets",
  "blog",
  "cdn",
  "dev",
  "docs",
  "ftp",
  "help",
  "imap",
  "localhost",
  "login",
  "mail",
  "ns1",
  "ns2",
  "pop",
  "smtp",
  "staging",
  "static",
  "status",
  "support",
  "test",
  "webmail",
  "www",
]);

export const seoHandlers: Handlers<typeof contract.seo> = {
  /**
   * Tells whether a subdomain is free.
   * Assumed: the slugs of accounts' owners are their subdomains; small and capital letters are one.
   * @throws ServiceError `invalidParams` where no host can be called so
   */
  checkSubdomain: async ({ subdomain }, context) => {
    const name = subdomain.toLowerCase();
    if (!hostLabel.test(name)) {
      throw new ServiceError(
        "invalidParams",
        "subdomain must be of letters, digits and dashes inside, and of at most 63 characters",
      );
    }
    const isTaken = reserved.has(name) || (await isSlugOfOwner(name, context));
    return { subdomain: { available: isTaken ? "false" : "true", subdomain } };
  },

  /**
   * Assumed: the page of a product that is not there is not found; the store's page is there at once.
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
    return { page };
  },
};

async function isSlugOfOwner(name: string, { transaction }: HandlerContext): Promise<boolean> {
  const found = await transaction
    .selectFrom("users")
    .select("id")
    .where("slug", "=", name)
    .where("kind", "=", "owner")
    .executeTakeFirst();
  return found !== undefined;
}
