import type * as z from "zod";
import { type contract, type SeoPage, siteReviewsId } from "../../contract/index.ts";
import { renderFragment } from "../../pages/fragments.ts";
import type { HandlerContext, Handlers } from "../kernel/handler.ts";
import { readSeoPage } from "./seo-page.ts";

type Method = z.output<typeof contract.batch.run.input>["methods"][number];

export const batchHandlers: Handlers<typeof contract.batch> = {
  /**
   * Makes a piece of HTML for each method, in their order.
   * Source: practice of services of this kind.
   * Assumed: `testimonials` and a method without a product are about the store itself; one about a product that is
   * not there says that there are no reviews yet, since a store's page must not fail as a whole.
   */
  run: async ({ methods }, context) => {
    // A page mostly asks for several pieces of one product.
    const pages = new Map<string, Promise<SeoPage>>();
    const results: { result: string }[] = [];
    for (const method of methods) {
      const asked = askedFor(method);
      const key = JSON.stringify(asked);
      const page = pages.get(key) ?? readPage(asked, context);
      pages.set(key, page);
      results.push({ result: renderFragment(method.method, await page) });
    }
    return { results };
  },
};

interface Asked {
  readonly productId: string;
  readonly page: number | undefined;
  readonly per_page: number | undefined;
}

function askedFor({ method, params: { pid, page, per_page } }: Method): Asked {
  return {
    productId: method === "testimonials" || !pid ? siteReviewsId : pid,
    page: page ?? undefined,
    // The bottom line shows none of them.
    per_page: method === "bottomline" ? 0 : (per_page ?? undefined),
  };
}

async function readPage({ productId, ...paging }: Asked, context: HandlerContext): Promise<SeoPage> {
  const nothing: SeoPage = {
    product_id: productId,
    name: productId,
    url: "",
    image_url: null,
    description: null,
    average_score: 0,
    total_reviews: 0,
    reviews: [],
  };
  return (await readSeoPage(productId, paging, context)) ?? nothing;
}
