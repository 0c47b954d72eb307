import type { SeoPage } from "../contract/index.ts";
import { directionOf } from "../messages/messages.ts";
import { isolate } from "./bidi.ts";
import { type Html, markup } from "./markup.ts";
import type { PageContext } from "./page-context.ts";

type Review = SeoPage["reviews"][number];

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
  const width = Math.round((score - full) * 160) / 10;
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
  const average = number(average_score, "ratingValue", data, context);
  const total = number(total_reviews, "reviewCount", data, context);
  return markup`<p class="starpost-bottomline"${data.item("AggregateRating", "aggregateRating")}>
${stars(average_score, context)} ${t("page.reviews.summary", { average, total, count: total_reviews })}${data.range}
</p>`;
}

/** A list of reviews. Each title is a third-level heading. */
export function reviewList(reviews: readonly Review[], data: Microdata, context: PageContext): Html {
  return markup`${reviews.map((review) => reviewArticle(review, data, context))}`;
}

function reviewArticle(review: Review, data: Microdata, context: PageContext): Html {
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
${byline(review, data, context, status)}
${storeReply(review, context)}
</article>`;
}

export function storeReply({ comment }: Pick<Review, "comment">, { t }: PageContext): Html | undefined {
  if (comment === null) return undefined;
  return markup`<p class="text comment" dir="auto"><b>${t("page.reviews.reply")}</b> ${isolate(comment)}</p>`;
}

/** Who wrote a review, and when, and something else about it; also that its author received a coupon, which laws require. */
export function byline(
  { display_name, created_at, received_coupon }: Pick<Review, "display_name" | "created_at" | "received_coupon">,
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
