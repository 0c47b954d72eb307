import type { TopReview } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { renderDocument } from "./document.ts";
import { type Html, markup } from "./markup.ts";
import { microdata } from "./microdata.ts";
import { day, scoreLine } from "./review-parts.ts";
import { isWebUrl } from "./seo-page.ts";

/**
 * The three most recent 5-star reviews.
 * Assumed: the HTML response for the top reviews is a page with schema.org microdata, in the order of the JSON response.
 */
export function topReviewsPage({ reviews }: { readonly reviews: readonly TopReview[] }): string {
  return renderDocument({
    title: "Top reviews",
    body: markup`<h1>Top reviews</h1>
${reviews.length === 0 ? markup`<p>There are no 5-star reviews yet.</p>` : reviews.map(reviewArticle)}`,
  });
}

function reviewArticle(review: TopReview): Html {
  const { property, item } = microdata;
  const { title, score, content, created_at, image_url, product_name = "", display_name = "" } = review;
  const heading = markup`<h2 dir="auto"${property("name")}>${title}</h2>`;
  const author = markup`<span${item("Person", "author")}>${isolate(display_name, property("name"))}</span>`;
  return markup`
<article class="starpost-review"${item("Review")}>
${title.trim() !== "" && heading}
${scoreLine(score, microdata)}
${image_url !== null && isWebUrl(image_url) && markup`<img src="${image_url}" alt="${product_name}">`}
<p class="text" dir="auto"${property("reviewBody")}>${content}</p>
<p class="by">${display_name !== "" && markup`By ${author}, `}${day(created_at, microdata)}${product(review)}</p>
</article>`;
}

function product({ product_url, product_name = "" }: TopReview): Html | undefined {
  const { property, item } = microdata;
  if (product_name === "") return undefined;
  const name = isolate(product_name, property("name"));
  const link = isWebUrl(product_url) ? markup`<a href="${product_url}"${property("url")}>${name}</a>` : name;
  return markup`, of <span${item("Product", "itemReviewed")}>${link}</span>`;
}
