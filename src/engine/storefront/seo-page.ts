import { type SeoPage, siteReviewsId, type WidgetPage } from "../../contract/index.ts";
import { readAccountProfile } from "../accounts/account-profile.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { anonymousType } from "../reviews/review-response.ts";
import { readSiteWidget, readWidget } from "../reviews/review-widget.ts";

/** The page of reviews to show; the latest come first. */
export interface Paging {
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
    .select(["product_id", "name", "url", "image_url", "description"])
    .where("product_id", "=", productId)
    .executeTakeFirst();
  return product && { ...product, ...toRated(await readWidget({ product_id: productId, ...paging }, context)) };
}

/** Assumed: a store without a name is shown as "This store". */
async function describeStore(context: HandlerContext) {
  const { displayName, domain } = await readAccountProfile(context);
  return { product_id: null, name: displayName || "This store", url: domain, image_url: null, description: null };
}

function toRated({ bottomline, reviews }: WidgetPage) {
  return {
    average_score: bottomline.average_score,
    total_reviews: bottomline.total_review,
    reviews: reviews.map(({ id, title, content, score, user, verified_buyer, comment, created_at }) => ({
      id,
      title,
      content,
      score,
      display_name: user.display_name,
      verified_buyer,
      anonymous: user.user_type === anonymousType,
      comment: comment?.content ?? null,
      created_at,
    })),
  };
}
