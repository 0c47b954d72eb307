import type { BatchMethod, SeoPage } from "../contract/index.ts";
import { noMarks, schemaMarks } from "./stars.ts";
import { type Html, markup, render } from "./markup.ts";
import { bottomLine, reviewList } from "./review-parts.ts";
import { isWeb } from "./seo-page.ts";

/** Pieces of HTML for pages that are not ours, which bring their own style. */
const pieces: Readonly<Record<BatchMethod, (page: SeoPage) => Html>> = {
  main_widget: mainWidget,
  bottomline: (page) => bottomLine(page, noMarks),
  testimonials: (page) => list(page, "starpost-testimonials"),
  reviews: (page) => list(page, "starpost-reviews"),
};

/** A piece for in-line SEO: `page` holds what it is about and the reviews to be shown. */
export function renderPiece(method: BatchMethod, page: SeoPage): string {
  return render(pieces[method](page));
}

/**
 * The bottom line and the reviews, with their marks.
 * Source: schema.org `Product` and `Organization`; one that has neither reviews nor an offer is an error to its readers.
 */
function mainWidget(page: SeoPage): Html {
  const marks = page.total_reviews === 0 ? noMarks : schemaMarks;
  const item = marks.is(page.product_id === null ? "Organization" : "Product");
  const url = isWeb(page.url) && markup`<link itemprop="url" href="${page.url}">`;
  return markup`<section class="starpost-widget"${item}>
${marks === schemaMarks && markup`<meta itemprop="name" content="${page.name}">${url}`}
<h2>Reviews</h2>
${bottomLine(page, marks)}${reviewList(page.reviews, marks)}
</section>`;
}

function list(page: SeoPage, name: string): Html {
  const shown =
    page.reviews.length === 0 ? markup`<p>There are no reviews yet.</p>` : reviewList(page.reviews, noMarks);
  return markup`<div class="${name}">${shown}</div>`;
}
