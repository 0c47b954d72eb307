import { type FullSeoPage, isLegalId, siteReviewsId, storefrontSorts, unnamedPage } from "../contract/index.ts";
import type { PageContent } from "./document.ts";
import { type Html, isWebUrl, markup, trusted } from "./markup.ts";
import { defaultContext, type PageContext } from "./page-context.ts";
import {
  bottomLine,
  histogram,
  myReviewsLink,
  noMicrodata,
  photoList,
  questionList,
  reviewList,
} from "./review-parts.ts";

type Overview = NonNullable<FullSeoPage["overview"]>;

/** The page with the reviews of a product or of the store, or the overview of what the store has reviews of. */
export function seoPage({ page }: { readonly page: FullSeoPage }, context: PageContext = defaultContext): PageContent {
  const name = nameOf(page, context);
  return {
    title: titleOf(page, context),
    head: headOf(page, context),
    body: markup`<h1 dir="auto">${name}</h1>
${image(page)}
${link(page, context)}
${page.description ? markup`<p class="text" dir="auto">${page.description}</p>` : undefined}
${page.overview && overviewOf(page, page.overview, context)}
${page.overview ? siteReviews(page, context) : markup`<section id="reviews">${reviewsOf(page, context)}</section>`}
${(page.takes_questions || page.questions.questions.length > 0) && questionsOf(page, context)}
${myReviewsLink(page, context)}`,
  };
}

/** The name of the product or store, or what a store without a name is called. */
export function nameOf(
  { product_id, name }: Pick<FullSeoPage, "product_id" | "name">,
  { text }: Pick<PageContext, "text">,
): string {
  return product_id === null && name === unnamedPage ? text("page.reviews.store") : name;
}

function titleOf(page: FullSeoPage, context: PageContext): string {
  const { text } = context;
  const name = nameOf(page, context);
  const title = name === page.name ? text("page.reviews.title", { name }) : text("page.reviews.title_store");
  const { page: at } = pagingOf(page);
  return at === 1 ? title : `${title} – ${text("page.product.page", pagesOf(page))}`;
}

/** The pagination of what `page` counts. */
const pagingOf = ({ overview, pagination }: FullSeoPage) => (overview ?? { pagination }).pagination;

function pagesOf(page: FullSeoPage): { readonly page: number; readonly pages: number } {
  const { page: at, per_page, total } = pagingOf(page);
  return { page: at, pages: Math.max(at, Math.ceil(total / per_page)) };
}

function image({ image_url }: FullSeoPage): Html | undefined {
  // The image has no alternative text, because the heading names the product.
  return image_url !== null && isWebUrl(image_url)
    ? markup`<img class="cover" src="${image_url}" alt="" width="320" height="240">`
    : undefined;
}

function link({ url, product_id }: FullSeoPage, { t }: PageContext): Html | undefined {
  const text = t(product_id === null ? "page.to_store" : "page.to_product");
  return isWebUrl(url) ? markup`<p><a href="${url}">${text}</a></p>` : undefined;
}

interface Query {
  readonly page?: number;
  readonly stars?: number | null;
  readonly sort?: string;
  readonly questions_page?: number;
}

/** A link to another view of this page. Views that are the default are not in its query. */
function viewOf({ stars, sort, page = 1, questions_page = 1 }: Query): string {
  const query = new URLSearchParams();
  if (stars) query.set("stars", String(stars));
  if (sort !== undefined && sort !== storefrontSorts[0]) query.set("sort", sort);
  if (page > 1) query.set("page", String(page));
  if (questions_page > 1) query.set("questions_page", String(questions_page));
  return `?${query.toString()}`;
}

/** Search engines index all pages of reviews in their usual order, but no other views of them. */
function headOf(page: FullSeoPage, context: PageContext): Html {
  const { stars, sort, page_url, questions } = page;
  // Escapes `<`, so that user text cannot end the element.
  const data = JSON.stringify(describe(page, context)).replaceAll("<", String.raw`\u003c`);
  const script = markup`<script type="application/ld+json">${trusted(data)}</script>`;
  if (stars !== null || sort !== storefrontSorts[0] || questions.pagination.page > 1) {
    return markup`<meta name="robots" content="noindex">${script}`;
  }
  const { page: at, pages } = pagesOf(page);
  const urlOf = (number: number) => page_url + (number === 1 ? "" : viewOf({ page: number }));
  return markup`<link rel="canonical" href="${urlOf(at)}">
${at > 1 && markup`<link rel="prev" href="${urlOf(at - 1)}">`}
${at < pages && markup`<link rel="next" href="${urlOf(at + 1)}">`}
${script}`;
}

function overviewOf(
  { page_url }: FullSeoPage,
  { products, pagination, latest_reviews }: Overview,
  context: PageContext,
): Html | undefined {
  const { t } = context;
  if (pagination.total === 0) return undefined;
  const pageOf = (productId: string, url: string) => (isLegalId(productId) ? `${page_url}/${productId}` : url);
  const cards = products.map(({ product_id, name, url, image_url, ...rating }) => {
    const shown = image_url !== null && isWebUrl(image_url);
    const target = pageOf(product_id, url);
    return markup`
<li>${shown && markup`<img src="${image_url}" alt="" width="80" height="80" loading="lazy">`}
<div><h3 dir="auto">${isWebUrl(target) ? markup`<a href="${target}">${name}</a>` : name}</h3>
${bottomLine(rating, noMicrodata, context)}</div></li>`;
  });
  const latest = latest_reviews.map(
    (review) =>
      review.product && {
        ...review,
        product: { ...review.product, url: pageOf(review.product.product_id, review.product.url) },
      },
  );
  return markup`<h2>${t("page.shop.products")}</h2>
<ul class="cards">${cards}</ul>
${pagesNavigation(pagination, (page) => viewOf({ page }), context)}
<h2>${t("page.shop.latest")}</h2>
${reviewList(
  latest.filter((review) => review !== undefined),
  noMicrodata,
  context,
)}`;
}

/** The store's own reviews on its overview. Without any, only a store without other reviews states that. */
function siteReviews(page: FullSeoPage, context: PageContext): Html | undefined {
  const { overview, total_reviews, reviews, page_url } = page;
  if (total_reviews === 0 && (overview?.pagination.total ?? 0) > 0) return undefined;
  const { t } = context;
  const rest =
    total_reviews > reviews.length &&
    markup`
<p class="actions"><a href="${page_url}/${siteReviewsId}">${t("page.product.see_reviews", { count: total_reviews })}</a></p>`;
  return markup`<h2>${t("page.shop.site")}</h2>
${bottomLine(page, noMicrodata, context)}
${reviewList(reviews, noMicrodata, context)}${rest}`;
}

function reviewsOf(page: FullSeoPage, context: PageContext): Html {
  const { t, text } = context;
  const { reviews, photos, pagination, total_reviews, star_distribution, stars, sort } = page;
  const heading = markup`<h2>${t("page.reviews.heading")}</h2>
${bottomLine(page, noMicrodata, context)}
${linkTo(`${page.page_url}/write`, "page.product.write", context)}`;
  if (total_reviews === 0) return heading;
  const filter =
    stars !== null &&
    markup`<p class="actions note">${t("page.product.filter", { stars: text("page.form.stars", { count: stars }) })}
<a href="${viewOf({ sort })}#reviews">${t("page.product.all")}</a></p>`;
  return markup`${heading}
${histogram(star_distribution, (count) => `${viewOf({ stars: count, sort })}#reviews`, context)}
${photos.length > 0 && markup`<h3>${t("page.product.photos")}</h3>${photoList(photos, context)}`}
${sortLinks(page, context)}
${filter}
${reviews.length === 0 ? markup`<p>${t("page.product.no_match")}</p>` : reviewList(reviews, noMicrodata, context)}
${pagesNavigation(pagination, (at) => `${viewOf({ stars, sort, page: at })}#reviews`, context)}`;
}

function sortLinks({ total_reviews, stars, sort }: FullSeoPage, { t }: PageContext): Html | undefined {
  if (total_reviews < 2) return undefined;
  const links = storefrontSorts.map((name) => {
    const label = t(`page.product.sort_${name}`);
    return name === sort
      ? markup` <b aria-current="true">${label}</b>`
      : markup` <a href="${viewOf({ stars, sort: name })}#reviews">${label}</a>`;
  });
  return markup`<p class="actions">${t("page.product.sort")}:${links}</p>`;
}

function linkTo(url: string, key: "page.product.write" | "page.product.ask", { t }: PageContext): Html {
  return markup`<p class="actions"><a href="${url}">${t(key)}</a></p>`;
}

function questionsOf(page: FullSeoPage, context: PageContext): Html {
  const { questions, pagination } = page.questions;
  return markup`<h2 id="questions">${context.t("page.product.questions")}</h2>
${page.takes_questions && linkTo(`${page.page_url}/ask`, "page.product.ask", context)}
${questionList(questions, context)}
${pagesNavigation(pagination, (questions_page) => `${viewOf({ questions_page })}#questions`, context)}`;
}

/** Links to the pages before and after. */
function pagesNavigation(
  { page, per_page, total }: FullSeoPage["pagination"],
  hrefOf: (page: number) => string,
  { t, text }: PageContext,
): Html | undefined {
  const pages = Math.ceil(total / per_page);
  if (pages <= 1 && page === 1) return undefined;
  return markup`<nav class="actions" aria-label="${text("page.product.pages")}">
${page > 1 && markup`<a rel="prev" href="${hrefOf(Math.min(page - 1, Math.max(pages, 1)))}">${t("page.product.previous")}</a>`}
<span>${t("page.product.page", { page, pages: Math.max(pages, page) })}</span>
${page < pages && markup`<a rel="next" href="${hrefOf(page + 1)}">${t("page.product.next")}</a>`}
</nav>`;
}

/**
 * Source: schema.org `Product` and `Organization`, and the requirements of search engines for review snippets, which forbid
 * that an organization shows its own rating.
 */
function describe(page: FullSeoPage, context: PageContext): Readonly<Record<string, unknown>> {
  const { product_id, url, image_url, description, reviews, average_score, total_reviews } = page;
  const common = { name: nameOf(page, context), ...(isWebUrl(url) && { url }) };
  if (product_id === null) return { "@context": "https://schema.org", "@type": "Organization", ...common };
  return {
    "@context": "https://schema.org",
    "@type": "Product",
    ...common,
    ...(image_url !== null && isWebUrl(image_url) && { image: image_url }),
    ...(description && { description }),
    sku: product_id,
    // Search engines reject a rating without reviews.
    ...(total_reviews > 0 && {
      aggregateRating: { "@type": "AggregateRating", ratingValue: average_score, reviewCount: total_reviews, ...range },
    }),
    ...(reviews.length > 0 && { review: reviews.map(describeReview) }),
  };
}

const range = { bestRating: 5, worstRating: 1 };

function describeReview({ title, content, score, display_name, created_at }: FullSeoPage["reviews"][number]) {
  return {
    "@type": "Review",
    author: { "@type": "Person", name: display_name },
    datePublished: created_at,
    reviewRating: { "@type": "Rating", ratingValue: score, ...range },
    ...(title.trim() !== "" && { name: title }),
    reviewBody: content,
  };
}
