import { type contract, seoPageReviews, siteReviewsId, invalidField } from "../../contract/index.ts";
import { accountOf, type Handlers } from "../kernel/handler.ts";
import { requireProduct, unknownProduct } from "../products/product-lookup.ts";
import { readSeoPage } from "./seo-page.ts";
import { isSlugOfOwner, seoPageUrl } from "../kernel/slug.ts";

/** A label of a host name. Source: RFC 1035 2.3.1, RFC 1123 2.1. */
const hostLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Subdomains that are never available. Assumed: these are names that services commonly use for their own hosts. */
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
    return { page };
  },
};
