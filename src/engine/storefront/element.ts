import type * as z from "zod";
import { type contract, isLegalId, siteReviewsId, type StorefrontElement } from "../../contract/index.ts";
import type { ElementContent } from "../../pages/elements.ts";
import { readBrand } from "../accounts/brand.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import { listPublicQuestions } from "./published-questions.ts";
import { listPhotos, listReviews } from "./published-reviews.ts";
import { toSeoReview } from "./seo.ts";

type Element = typeof contract.storefront.element;
type Query = z.output<Element["input"]>;

const readers: Readonly<
  Record<StorefrontElement, (query: Query, context: HandlerContext) => Promise<Omit<ElementContent, "pageUrl">>>
> = {
  rating: async ({ product_id }, context) => ({ list: await readList({ product_id, per_page: 1 }, context) }),
  badge: async (_, context) => ({ list: await readList({ product_id: siteReviewsId, per_page: 1 }, context) }),
  reviews: async ({ product_id, per_page }, context) => ({
    list: await readList({ product_id, per_page }, context),
  }),
  carousel: async ({ product_id, per_page, review_ids }, context) => {
    const sort = review_ids ? "newest" : "highest";
    return { list: await readList({ product_id, per_page, review_ids, sort }, context) };
  },
  photos: async ({ product_id, per_page }, context) => ({
    photos: await listPhotos({ product_id, per_page }, context),
  }),
  questions: async ({ product_id, per_page }, context) => ({
    questions: await listPublicQuestions({ product_id, per_page }, context),
  }),
  "review-form": async () => ({}),
};

async function readList(query: Parameters<typeof listReviews>[0], context: HandlerContext) {
  const { rating, reviews } = await listReviews(query, context);
  return { rating, reviews: reviews.map(toSeoReview) };
}

/** Renders the first page of an element. Pages of the shop include it, so it has the shop's language. */
export async function showElement(query: Query, context: HandlerContext): Promise<z.output<Element["output"]>> {
  const { element, product_id, language } = query;
  const { id, appKey } = accountOf(context);
  const productId = element === "badge" ? siteReviewsId : product_id;
  const pageUrl = isLegalId(productId) ? seoPageUrl({ publicUrl: context.publicUrl, appKey, productId }) : undefined;
  const brand = await readBrand(id, context);
  const content = await readers[element](query, context);
  const { renderElement } = await import("../../pages/elements.ts");
  const { createPageContext } = await import("../../pages/page-context.ts");
  return {
    html: renderElement(element, { ...content, pageUrl }, createPageContext(brand, language ?? brand.language)),
  };
}
