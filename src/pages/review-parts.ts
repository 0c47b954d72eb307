import type { SeoPage } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { type Html, markup } from "./markup.ts";
import type { PageContext } from "./page-context.ts";

type Review = SeoPage["reviews"][number];

/** Filled and empty stars, hidden from screen readers. Text with the same content must follow. */
function stars(score: number): Html {
  const full = Math.round(score);
  return markup`<span class="stars" aria-hidden="true">${"★".repeat(full)}${"☆".repeat(5 - full)}</span>`;
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
${stars(average_score)} ${t("page.reviews.summary", { average, total, count: total_reviews })}${data.range}
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
  return markup`<p${data.item("Rating", "reviewRating")}>${stars(score)} ${text}${data.range}</p>`;
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
