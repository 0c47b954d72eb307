import type { BatchMethod, SeoPage } from "../contract/index.ts";
import { directionOf } from "../messages/messages.ts";
import { type Html, isWebUrl, markup, render } from "./markup.ts";
import { defaultContext, type PageContext } from "./page-context.ts";
import { bottomLine, microdata, noMicrodata, reviewList } from "./review-parts.ts";
import { nameOf } from "./seo-page.ts";

/** HTML fragments for storefront pages, which have their own styles. */
const fragments: Readonly<Record<BatchMethod, (page: SeoPage, context: PageContext) => Html>> = {
  main_widget: mainWidget,
  bottomline: (page, context) => bottomLine(page, noMicrodata, context),
  testimonials: (page, context) => list(page, "starpost-testimonials", context),
  reviews: (page, context) => list(page, "starpost-reviews", context),
};

/** Renders a fragment for in-page SEO. `page` holds the product or store and the reviews to show. */
export function renderFragment(method: BatchMethod, page: SeoPage, context: PageContext = defaultContext): string {
  return render(fragments[method](page, context));
}

/**
 * Renders the bottom line and the reviews, of a product with microdata.
 * Source: schema.org `Product`. Search engines reject one with neither reviews nor an offer, and an organization that shows
 * its own rating.
 */
function mainWidget(page: SeoPage, context: PageContext): Html {
  const schema = page.total_reviews === 0 || page.product_id === null ? noMicrodata : microdata;
  const item = schema.item("Product");
  const url = isWebUrl(page.url) && markup`<link itemprop="url" href="${page.url}">`;
  return markup`<section class="starpost-widget"${languageOf(context)}${item}>
${schema === microdata && markup`<meta itemprop="name" content="${nameOf(page, context)}">${url}`}
<h2>${context.t("page.reviews.heading")}</h2>
${bottomLine(page, schema, context)}${reviewList(page.reviews, schema, context)}
</section>`;
}

function list(page: SeoPage, className: string, context: PageContext): Html {
  const content =
    page.reviews.length === 0
      ? markup`<p>${context.t("page.reviews.none")}</p>`
      : reviewList(page.reviews, noMicrodata, context);
  return markup`<div class="${className}"${languageOf(context)}>${content}</div>`;
}

/** The page around a fragment may have another language. */
function languageOf({ language }: PageContext): Html {
  return markup` lang="${language}" dir="${directionOf(language)}"`;
}
