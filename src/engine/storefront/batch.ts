import type * as z from "zod";
import { type contract, invalidField, maxBatchCharacters, type SeoPage, siteReviewsId } from "../../contract/index.ts";
import { readBrand } from "../accounts/brand.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { readSeoPage } from "./seo.ts";

type Method = z.output<typeof contract.batch.run.input>["methods"][number];

export const batchHandlers: Handlers<typeof contract.batch> = {
  /**
   * Renders an HTML fragment for each method, in order.
   * Source: practice of services of this kind.
   * Assumed: `testimonials`, and methods without a product, show the store's reviews; for an unknown product, the fragment
   * states that there are no reviews yet, so that the store's page does not fail.
   */
  run: async ({ methods }, context) => {
    const { renderFragment } = await import("../../pages/fragments.ts");
    const { createPageContext } = await import("../../pages/page-context.ts");
    // A page usually requests several fragments for the same product.
    const pages = new Map<string, Promise<SeoPage>>();
    let characters = 0;
    const results: { result: string }[] = [];
    // Pages of the store show the fragments, so they have its language.
    const brand = await readBrand(accountOf(context).id, context);
    const pageContext = createPageContext(brand, brand.language);
    for (const method of methods) {
      const request = toPageRequest(method);
      const key = JSON.stringify(request);
      const page = pages.get(key) ?? readPage(request, context);
      pages.set(key, page);
      const shown = await page;
      characters += countCharacters(shown);
      if (characters > maxBatchCharacters) throw tooManyReviews();
      results.push({ result: renderFragment(method.method, shown, pageContext) });
    }
    return { results };
  },
};

const tooManyReviews = () =>
  invalidField(
    "methods",
    `request reviews of more than ${maxBatchCharacters} characters; use fewer methods, or a smaller per_page`,
  );

function countCharacters({ reviews }: SeoPage): number {
  return reviews.reduce(
    (sum, { title, content, comment }) => sum + title.length + content.length + (comment?.length ?? 0),
    0,
  );
}

interface PageRequest {
  readonly productId: string;
  readonly page: number | undefined;
  readonly per_page: number | undefined;
}

function toPageRequest({ method, params: { pid, page, per_page } }: Method): PageRequest {
  return {
    productId: method === "testimonials" || !pid ? siteReviewsId : pid,
    page: page ?? undefined,
    // A bottom line shows no reviews.
    per_page: method === "bottomline" ? 0 : (per_page ?? undefined),
  };
}

async function readPage({ productId, ...paging }: PageRequest, context: HandlerContext): Promise<SeoPage> {
  const emptyPage: SeoPage = {
    product_id: productId,
    name: productId,
    url: "",
    image_url: null,
    description: null,
    average_score: 0,
    total_reviews: 0,
    reviews: [],
  };
  return (await readSeoPage(productId, paging, context)) ?? emptyPage;
}
