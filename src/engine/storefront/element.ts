import type * as z from "zod";
import { carouselSize, type contract, isLegalId, siteReviewsId, type StorefrontElement } from "../../contract/index.ts";
import type { ElementContent } from "../../pages/elements.ts";
import { readBrand } from "../accounts/brand.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { seoPageUrl } from "../kernel/slug.ts";
import { listPublicQuestions } from "./published-questions.ts";
import { listPhotos, listReviews } from "./published-reviews.ts";
import { toSeoReview } from "./seo.ts";

type Element = typeof contract.storefront.element;
type Query = z.output<Element["input"]>;

type Read = (productId: string, query: Query, context: HandlerContext) => Promise<Omit<ElementContent, "pageUrl">>;

const readRating: Read = async (product_id, _, context) => ({
  list: await readList({ product_id, per_page: 1 }, context),
});

const readers: Readonly<Record<StorefrontElement, Read>> = {
  rating: readRating,
  badge: readRating,
  reviews: async (product_id, { per_page }, context) => ({ list: await readList({ product_id, per_page }, context) }),
  carousel: async (_, { product_id, per_page, review_ids }, context) => {
    const size = per_page ?? review_ids?.length ?? carouselSize;
    const sort = review_ids ? undefined : "highest";
    return { list: await readList({ product_id, per_page: size, review_ids, sort }, context) };
  },
  photos: async (product_id, { per_page }, context) => ({
    photos: await listPhotos({ product_id, per_page }, context),
  }),
  questions: async (product_id, { per_page }, context) => ({
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
  const { element, product_id = siteReviewsId, language } = query;
  const { id, appKey } = accountOf(context);
  const productId = element === "badge" ? siteReviewsId : product_id;
  const pageId = element === "carousel" ? query.product_id : productId;
  const hasPage = pageId === undefined || isLegalId(pageId);
  const pageUrl = hasPage ? seoPageUrl({ publicUrl: context.publicUrl, appKey, productId: pageId }) : undefined;
  const brand = await readBrand(id, context);
  const content = await readers[element](productId, query, context);
  const { renderElement } = await import("../../pages/elements.ts");
  const { createPageContext } = await import("../../pages/page-context.ts");
  return {
    html: renderElement(element, { ...content, pageUrl }, createPageContext(brand, language ?? brand.language)),
  };
}
