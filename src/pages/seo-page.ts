import { type SeoPage, unnamedPage } from "../contract/index.ts";
import type { PageContent } from "./document.ts";
import { type Html, markup, trusted } from "./markup.ts";
import { defaultContext, type PageContext } from "./page-context.ts";
import { bottomLine, myReviewsLink, noMicrodata, reviewList } from "./review-parts.ts";

/** The page with the reviews of a product or of the store. */
export function seoPage(
  { page }: { readonly page: SeoPage & { readonly my_reviews_url: string } },
  context: PageContext = defaultContext,
): PageContent {
  const { t, text } = context;
  const name = nameOf(page, context);
  // Structured data for search engines. Escapes `<`, so that user text cannot end the element.
  const data = JSON.stringify(describe({ ...page, name })).replaceAll("<", String.raw`\u003c`);
  return {
    title: name === page.name ? text("page.reviews.title", { name }) : text("page.reviews.title_store"),
    head: markup`<script type="application/ld+json">${trusted(data)}</script>`,
    body: markup`<h1 dir="auto">${name}</h1>
${image(page)}
${link(page, context)}
${page.description ? markup`<p class="text" dir="auto">${page.description}</p>` : undefined}
<h2>${t("page.reviews.heading")}</h2>
${bottomLine(page, noMicrodata, context)}${reviewList(page.reviews, noMicrodata, context)}
${myReviewsLink(page, context)}`,
  };
}

/** The name of the product or store, or what a store without a name is called. */
export function nameOf({ product_id, name }: SeoPage, { text }: PageContext): string {
  return product_id === null && name === unnamedPage ? text("page.reviews.store") : name;
}

function image({ image_url, name }: SeoPage): Html | undefined {
  return image_url !== null && isWebUrl(image_url) ? markup`<img src="${image_url}" alt="${name}">` : undefined;
}

function link({ url, product_id }: SeoPage, { t }: PageContext): Html | undefined {
  const text = t(product_id === null ? "page.to_store" : "page.to_product");
  return isWebUrl(url) ? markup`<p><a href="${url}">${text}</a></p>` : undefined;
}

/** Whether a URL may be used in a link or image. Other schemes, such as `javascript:`, can contain code. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(url);
}

/** Source: schema.org `Product` and `Organization`, and the requirements of search engines for review snippets. */
function describe(page: SeoPage): Readonly<Record<string, unknown>> {
  const { product_id, name, url, image_url, description, reviews, average_score, total_reviews } = page;
  return {
    "@context": "https://schema.org",
    "@type": product_id === null ? "Organization" : "Product",
    name,
    ...(isWebUrl(url) && { url }),
    ...(image_url !== null && isWebUrl(image_url) && { image: image_url }),
    ...(description && { description }),
    ...(product_id !== null && { sku: product_id }),
    // Search engines reject a rating without reviews.
    ...(total_reviews > 0 && {
      aggregateRating: { "@type": "AggregateRating", ratingValue: average_score, reviewCount: total_reviews, ...range },
    }),
    ...(reviews.length > 0 && { review: reviews.map(describeReview) }),
  };
}

const range = { bestRating: 5, worstRating: 1 };

function describeReview({ title, content, score, display_name, created_at }: SeoPage["reviews"][number]) {
  return {
    "@type": "Review",
    author: { "@type": "Person", name: display_name },
    datePublished: created_at,
    reviewRating: { "@type": "Rating", ratingValue: score, ...range },
    ...(title.trim() !== "" && { name: title }),
    reviewBody: content,
  };
}
