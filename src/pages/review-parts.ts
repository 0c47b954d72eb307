import type { SeoPage } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { type Html, markup } from "./markup.ts";

type Review = SeoPage["reviews"][number];

/** Filled and empty stars, hidden from screen readers. Text with the same content must follow. */
function stars(score: number): Html {
  const full = Math.round(score);
  return markup`<span class="stars" aria-hidden="true">${"★".repeat(full)}${"☆".repeat(5 - full)}</span>`;
}

/** The average score and the number of reviews. Source: spec "Bottom lines". */
export function bottomLine(
  { average_score, total_reviews }: Pick<SeoPage, "average_score" | "total_reviews">,
  { property, item, range }: Microdata,
): Html {
  if (total_reviews === 0) return markup`<p class="starpost-bottomline">There are no reviews yet.</p>`;
  const average = markup`<span${property("ratingValue")}>${average_score}</span>`;
  const total = markup`<span${property("reviewCount")}>${total_reviews}</span>`;
  return markup`<p class="starpost-bottomline"${item("AggregateRating", "aggregateRating")}>
${stars(average_score)} ${average} out of 5 from ${total} ${total_reviews === 1 ? "review" : "reviews"}${range}
</p>`;
}

/** A list of reviews. Each title is a third-level heading. */
export function reviewList(reviews: readonly Review[], microdata: Microdata): Html {
  return markup`${reviews.map((review) => reviewArticle(review, microdata))}`;
}

function reviewArticle(review: Review, microdata: Microdata): Html {
  const { property, item } = microdata;
  const heading = markup`<h3 dir="auto"${property("name")}>${review.title}</h3>`;
  const author = markup`<span${item("Person", "author")}>${isolate(review.display_name, property("name"))}</span>`;
  const status = review.verified_buyer ? ", verified buyer" : review.anonymous && ", not verified";
  return markup`
<article class="starpost-review"${item("Review", "review")}>
${review.title.trim() !== "" && heading}
${scoreLine(review.score, microdata)}
<p class="text" dir="auto"${property("reviewBody")}>${review.content}</p>
<p class="by">By ${author}${status}, ${day(review.created_at, microdata)}</p>
${review.comment !== null && markup`<p class="text comment" dir="auto"><b>Store:</b> ${isolate(review.comment)}</p>`}
</article>`;
}

/** Leads authors to what they have written. */
export function myReviewsLink({ my_reviews_url: url }: { readonly my_reviews_url: string }): Html {
  return markup`<p class="by foot"><a href="${url}">See, edit, or delete what you have written</a></p>`;
}

export function scoreLine(score: number, { property, item, range }: Microdata): Html {
  const value = markup`<span${property("ratingValue")}>${score}</span>`;
  return markup`<p${item("Rating", "reviewRating")}>${stars(score)} ${value} out of 5${range}</p>`;
}

let dayFormat: Intl.DateTimeFormat | undefined;

/** The date of a timestamp, in UTC. */
export function day(timestamp: string, { property }: Microdata): Html {
  // Created on first use, because creating it delays start-up.
  dayFormat ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
  const text = dayFormat.format(new Date(timestamp));
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
