import type { TopReview } from "../contract/index.ts";
import { apart } from "./bidi.ts";
import { renderDocument } from "./document.ts";
import { schemaMarks } from "./stars.ts";
import { type Html, markup } from "./markup.ts";
import { day, scoreLine } from "./review-parts.ts";
import { isWeb } from "./seo-page.ts";

/**
 * The three latest 5-star reviews.
 * Assumed: the HTML form of the top reviews is a page with the marks of schema.org, in the order of the JSON form.
 */
export function topReviewsPage({ reviews }: { readonly reviews: readonly TopReview[] }): string {
  return renderDocument({
    title: "Top reviews",
    body: markup`<h1>Top reviews</h1>
${reviews.length === 0 ? markup`<p>There are no 5-star reviews yet.</p>` : reviews.map(reviewArticle)}`,
  });
}

function reviewArticle(review: TopReview): Html {
  const { says, is } = schemaMarks;
  const { title, score, content, created_at, image_url, product_name = "", display_name = "" } = review;
  const heading = markup`<h2 dir="auto"${says("name")}>${title}</h2>`;
  const author = markup`<span${is("Person", "author")}>${apart(display_name, says("name"))}</span>`;
  return markup`
<article class="starpost-review"${is("Review")}>
${title.trim() !== "" && heading}
${scoreLine(score, schemaMarks)}
${image_url !== null && isWeb(image_url) && markup`<img src="${image_url}" alt="${product_name}">`}
<p class="text" dir="auto"${says("reviewBody")}>${content}</p>
<p class="by">${display_name !== "" && markup`By ${author}, `}${day(created_at, schemaMarks)}${product(review)}</p>
</article>`;
}

function product({ product_url, product_name = "" }: TopReview): Html | undefined {
  const { says, is } = schemaMarks;
  if (product_name === "") return undefined;
  const name = apart(product_name, says("name"));
  const shown = isWeb(product_url) ? markup`<a href="${product_url}"${says("url")}>${name}</a>` : name;
  return markup`, of <span${is("Product", "itemReviewed")}>${shown}</span>`;
}
