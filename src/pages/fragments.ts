import type { BatchMethod, SeoPage } from "../contract/index.ts";
import { type Html, markup, render } from "./markup.ts";
import { bottomLine, microdata, noMicrodata, reviewList } from "./review-parts.ts";
import { isWebUrl } from "./seo-page.ts";

/** HTML fragments for storefront pages, which have their own styles. */
const fragments: Readonly<Record<BatchMethod, (page: SeoPage) => Html>> = {
  main_widget: mainWidget,
  bottomline: (page) => bottomLine(page, noMicrodata),
  testimonials: (page) => list(page, "starpost-testimonials"),
  reviews: (page) => list(page, "starpost-reviews"),
};

/** Renders a fragment for in-page SEO. `page` holds the product or store and the reviews to show. */
export function renderFragment(method: BatchMethod, page: SeoPage): string {
  return render(fragments[method](page));
}

/**
 * Renders the bottom line and the reviews with microdata.
 * Source: schema.org `Product` and `Organization`. Search engines reject one with neither reviews nor an offer.
 */
function mainWidget(page: SeoPage): Html {
  const schema = page.total_reviews === 0 ? noMicrodata : microdata;
  const item = schema.item(page.product_id === null ? "Organization" : "Product");
  const url = isWebUrl(page.url) && markup`<link itemprop="url" href="${page.url}">`;
  return markup`<section class="starpost-widget"${item}>
${schema === microdata && markup`<meta itemprop="name" content="${page.name}">${url}`}
<h2>Reviews</h2>
${bottomLine(page, schema)}${reviewList(page.reviews, schema)}
</section>`;
}

function list(page: SeoPage, className: string): Html {
  const content =
    page.reviews.length === 0 ? markup`<p>There are no reviews yet.</p>` : reviewList(page.reviews, noMicrodata);
  return markup`<div class="${className}">${content}</div>`;
}
