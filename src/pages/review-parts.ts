import type { Photo, SeoPage, SeoReview, StorefrontQuestion, StorefrontReviews } from "../contract/index.ts";
import { directionOf } from "../messages/messages.ts";
import { isolate } from "./bidi.ts";
import { type Html, isWebUrl, markup } from "./markup.ts";
import type { PageContext } from "./page-context.ts";

/** The outlines of stars, 16 wide and 18 apart. */
const outline = (at: number) =>
  `M${8 + at * 18} .9l1.8 4.9 5.2 .2-4.1 3.2 1.4 5.1-4.3-2.9-4.3 2.9 1.4-5.1-4.1-3.2 5.2-.2z`;
const outlines = [0, 1, 2, 3, 4].map(outline);

/**
 * Stars, filled up to a score, such as 3.7. Hidden from screen readers, so text with the same content must follow. An inner
 * image cuts off a part of a star; this needs no styles, which the page around a fragment may forbid.
 */
export function stars(score: number, { language }: Pick<PageContext, "language">): Html {
  const full = Math.floor(score);
  // Most of a star's area is in the middle half of its width.
  const width = score === full ? 0 : 4 + Math.round((score - full) * 80) / 10;
  const mirrored = directionOf(language) === "rtl" && markup` transform="matrix(-1 0 0 1 88 0)"`;
  const [filled, empty] = [outlines.slice(0, full), outlines.slice(full)].map((row) => row.join(""));
  const part =
    width > 0 &&
    markup`<svg x="${full * 18}" width="${width}" height="16"><path fill="currentColor" d="${outline(0)}"/></svg>`;
  return markup`<svg class="stars" aria-hidden="true" width="88" height="16" viewBox="0 0 88 16"><g stroke="currentColor"${mirrored}><path fill="none" d="${empty}"/>${part}<path fill="currentColor" d="${filled}"/></g></svg>`;
}

/** A number in the language of the page, with its value for search engines. */
function number(value: number, name: string, { property }: Microdata, { t }: PageContext): Html {
  return markup`<data value="${value}"${property(name)}>${t("page.number", { value })}</data>`;
}

/** The average score and the number of reviews. Source: spec "Bottom lines". */
export function bottomLine(
  { average_score, total_reviews }: Pick<SeoPage, "average_score" | "total_reviews">,
  data: Microdata,
  context: PageContext,
): Html {
  const { t } = context;
  if (total_reviews === 0) return markup`<p class="starpost-bottomline">${t("page.reviews.none")}</p>`;
  return markup`<p class="starpost-bottomline"${data.item("AggregateRating", "aggregateRating")}>
${ratingText({ average_score, total_reviews }, data, context)}${data.range}
</p>`;
}

/** The average score and the number of reviews, for inside a text. */
export function ratingText(
  { average_score, total_reviews }: Pick<SeoPage, "average_score" | "total_reviews">,
  data: Microdata,
  context: PageContext,
): Html {
  const average = number(average_score, "ratingValue", data, context);
  const total = number(total_reviews, "reviewCount", data, context);
  const text = context.t("page.reviews.summary", { average, total, count: total_reviews });
  return markup`${stars(average_score, context)} ${text}`;
}

/** The same in short, as in lists of products; screen readers get the long text. */
export function shortRating(
  { average_score, total_reviews }: Pick<SeoPage, "average_score" | "total_reviews">,
  context: PageContext,
): Html {
  const { text } = context;
  const [average, total] = [average_score, total_reviews].map((value) => text("page.number", { value }));
  const label = text("page.reviews.summary", { average, total, count: total_reviews });
  return markup`<span role="img" aria-label="${label}">${stars(average_score, context)} ${average} (${total})</span>`;
}

/** Whether the page has the styles of pages. */
interface Styling {
  readonly isStyled: boolean;
}

const styled: Styling = { isStyled: true };

/** A list of reviews. Each title is a third-level heading. */
export function reviewList(
  reviews: readonly SeoReview[],
  data: Microdata,
  context: PageContext,
  styling = styled,
): Html {
  return markup`${reviews.map((review) => reviewArticle(review, data, context, styling))}`;
}

function reviewArticle(review: SeoReview, data: Microdata, context: PageContext, styling: Styling): Html {
  const { property, item } = data;
  const { t } = context;
  const heading = markup`<h3 dir="auto"${property("name")}>${review.title}</h3>`;
  const status = review.verified_buyer
    ? t("page.reviews.verified_buyer")
    : review.anonymous
      ? t("page.reviews.not_verified")
      : undefined;
  return markup`
<article class="starpost-review"${item("Review", "review")}>
${review.title.trim() !== "" && heading}
${scoreLine(review.score, data, context)}
<p class="text" dir="auto"${property("reviewBody")}>${review.content}</p>
${photoList(
  (review.photos ?? []).map((photo) => Object.assign({}, photo, { display_name: review.display_name })),
  context,
  styling,
)}
${byline(review, data, context, status)}
${about(review, context)}
${helpful(review.votes_up, context)}
${storeReply(review, context)}
</article>`;
}

/** The product of a review, on a page that shows reviews of several. */
function about({ product }: SeoReview, { t }: PageContext): Html | undefined {
  if (!product) return undefined;
  const name = isolate(product.name);
  const link = isWebUrl(product.url) ? markup`<a href="${product.url}">${name}</a>` : name;
  return markup`<p class="by">${t("page.shop.about", { product: link })}</p>`;
}

function helpful(count: number | undefined, { t }: PageContext): Html | undefined {
  return count ? markup`<p class="by">${t("page.product.helpful", { count })}</p>` : undefined;
}

/** A photo, and who has taken it. */
type NamedPhoto = Photo & { readonly display_name: string };

/** The size of small photos, in pixels. */
const smallPhoto = 160;

/**
 * Small photos that link to large ones. A photo without known dimensions would move what follows when it arrives, and is
 * distorted by any other dimensions, so only styles (`.photos`) show it; without them, it is a link.
 */
export function photoList(
  photos: readonly NamedPhoto[],
  context: PageContext,
  { isStyled } = styled,
): Html | undefined {
  const shown = photos.filter(({ sizes }) => isWebUrl(sizes[1200]));
  if (shown.length === 0) return undefined;
  const items = shown.map((photo, at) => {
    const alt = context.text("page.product.photo", { number: at + 1, name: photo.display_name });
    const image = photoImage(photo, alt, isStyled);
    return markup`<li><a href="${photo.sizes[1200]}">${image ?? alt}</a></li>`;
  });
  return markup`<ul class="photos">${items}</ul>`;
}

function photoImage({ width, height, color, sizes }: Photo, alt: string, isStyled: boolean): Html | undefined {
  const small = sizes[160] ?? sizes[1200];
  const large = sizes[480] !== undefined && sizes[480] !== small && markup` srcset="${sizes[480]} 2x"`;
  const scale = width !== null && height !== null ? Math.min(1, smallPhoto / Math.max(width, height)) : undefined;
  if (scale === undefined && !isStyled) return undefined;
  const [w, h] = [width ?? smallPhoto, height ?? smallPhoto].map((length) =>
    Math.max(1, Math.round(length * (scale ?? 1))),
  );
  // An attribute, because the policy of pages forbids styles of elements.
  const placeholder =
    isStyled &&
    color !== null &&
    markup`<svg aria-hidden="true" viewBox="0 0 1 1" preserveAspectRatio="none"><rect width="1" height="1" fill="${color}"/></svg>`;
  return markup`${placeholder}<img src="${small}"${large} alt="${alt}" width="${w}" height="${h}" loading="lazy">`;
}

type Distribution = StorefrontReviews["rating"]["star_distribution"];

/** The number of reviews for each number of stars. Those that have reviews link to them. */
export function histogram(
  distribution: Distribution,
  hrefOf: (score: number) => string | undefined,
  { t }: PageContext,
): Html {
  const total = Object.values(distribution).reduce((sum, count) => sum + count, 0);
  const rows = ([5, 4, 3, 2, 1] as const).map((score) => {
    const count = distribution[score];
    const label = t("page.form.stars", { count: score });
    const href = count > 0 ? hrefOf(score) : undefined;
    const width = Math.round((count / Math.max(total, 1)) * 1_000) / 10;
    return markup`
<tr><th scope="row">${href === undefined ? label : markup`<a href="${href}">${label}</a>`}</th>
<td class="bar"><svg aria-hidden="true" width="100" height="8" viewBox="0 0 100 8" preserveAspectRatio="none"><rect width="${width}" height="8" fill="currentColor"/></svg></td>
<td>${t("page.product.count", { count })}</td></tr>`;
  });
  return markup`<table class="histogram"><caption class="unseen">${t("page.product.histogram")}</caption>
<tbody>${rows}</tbody></table>`;
}

/** Questions with their answers. */
export function questionList(questions: readonly StorefrontQuestion[], context: PageContext): Html {
  return markup`${questions.map(
    (question) => markup`
<article class="starpost-question">
<p class="text" dir="auto"><b>${question.content}</b></p>
${byline(question, noMicrodata, context, undefined)}
${question.answers.map((answer) => answerOf(answer, context))}
</article>`,
  )}`;
}

function answerOf(answer: StorefrontQuestion["answers"][number], context: PageContext): Html {
  const { content, is_shop: isShop, votes_up } = answer;
  return markup`<div class="${isShop ? "comment" : "answer"}">
<p class="text" dir="auto">${content}</p>
${byline(answer, noMicrodata, context, undefined)}
${helpful(votes_up, context)}
</div>`;
}

export function storeReply({ comment }: Pick<SeoReview, "comment">, { t }: PageContext): Html | undefined {
  if (comment === null) return undefined;
  return markup`<p class="text comment" dir="auto"><b>${t("page.reviews.reply")}</b> ${isolate(comment)}</p>`;
}

/** Who wrote a review, and when, and something else about it; also that its author received a coupon, which laws require. */
export function byline(
  { display_name, created_at, received_coupon }: Pick<SeoReview, "display_name" | "created_at" | "received_coupon">,
  data: Microdata,
  context: PageContext,
  rest: Html | undefined,
): Html {
  const author = markup`<span${data.item("Person", "author")}>${isolate(display_name, data.property("name"))}</span>`;
  const by = display_name === "" ? undefined : context.t("page.reviews.author", { name: author });
  const parts = [by, rest, day(created_at, data, context)].filter((part) => part !== undefined);
  const coupon = received_coupon && markup`\n<p class="by">${context.t("page.reviews.coupon")}</p>`;
  return markup`<p class="by">${parts.map((part, at) => markup`${at > 0 && " · "}${part}`)}</p>${coupon}`;
}

/** Leads authors to what they have written. */
export function myReviewsLink({ my_reviews_url: url }: { readonly my_reviews_url: string }, { t }: PageContext): Html {
  return markup`<p class="by foot"><a href="${url}">${t("page.mine.link")}</a></p>`;
}

export function scoreLine(score: number, data: Microdata, context: PageContext): Html {
  const value = number(score, "ratingValue", data, context);
  const text = context.t("page.reviews.score", { score: value });
  return markup`<p${data.item("Rating", "reviewRating")}>${stars(score, context)} ${text}${data.range}</p>`;
}

/** The date of a timestamp, in UTC. */
export function day(timestamp: string, { property }: Microdata, { t }: PageContext): Html {
  const text = t("page.date", { date: timestamp });
  return markup`<time datetime="${timestamp}"${property("datePublished")}>${text}</time>`;
}

/** Attributes that describe the HTML to search engines. Source: schema.org, HTML microdata. */
interface Microdata {
  /** Marks the element as a property of the enclosing item. */
  readonly property: (name: string) => Html;
  /** Marks the element as an item of its own. */
  readonly item: (type: string, property?: string) => Html;
  /** States that scores range from 1 to 5. */
  readonly range: Html;
}

export const microdata: Microdata = {
  property: (name) => markup` itemprop="${name}"`,
  item: (type, property) => {
    const itemprop = property !== undefined && markup` itemprop="${property}"`;
    return markup`${itemprop} itemscope itemtype="https://schema.org/${type}"`;
  },
  range: markup`<meta itemprop="bestRating" content="5"><meta itemprop="worstRating" content="1">`,
};

const none = markup``;

/** Adds no attributes, for pages that describe themselves in another way, such as JSON-LD. */
export const noMicrodata: Microdata = { property: () => none, item: () => none, range: none };
