import type { SeoPage } from "../contract/index.ts";
import { apart } from "./bidi.ts";
import type { Marks } from "./stars.ts";
import { type Html, markup } from "./markup.ts";

type Review = SeoPage["reviews"][number];

/** Full and empty stars, for eyes alone: the same must stand beside them in words. */
function stars(score: number): Html {
  const full = Math.round(score);
  return markup`<span class="stars" aria-hidden="true">${"★".repeat(full)}${"☆".repeat(5 - full)}</span>`;
}

/** How many reviews there are and their average. Source: spec "Bottom lines". */
export function bottomLine(
  { average_score, total_reviews }: Pick<SeoPage, "average_score" | "total_reviews">,
  { says, is, range }: Marks,
): Html {
  if (total_reviews === 0) return markup`<p class="starpost-bottomline">There are no reviews yet.</p>`;
  const average = markup`<span${says("ratingValue")}>${average_score}</span>`;
  const total = markup`<span${says("reviewCount")}>${total_reviews}</span>`;
  return markup`<p class="starpost-bottomline"${is("AggregateRating", "aggregateRating")}>
${stars(average_score)} ${average} out of 5 from ${total} ${total_reviews === 1 ? "review" : "reviews"}${range}
</p>`;
}

/** Reviews one after another, each under a heading of the third level where it has a title. */
export function reviewList(reviews: readonly Review[], marks: Marks): Html {
  return markup`${reviews.map((review) => reviewArticle(review, marks))}`;
}

/** What people wrote runs in its own direction, and keeps it to itself. */
function reviewArticle(review: Review, marks: Marks): Html {
  const { says, is } = marks;
  const heading = markup`<h3 dir="auto"${says("name")}>${review.title}</h3>`;
  const author = markup`<span${is("Person", "author")}>${apart(review.display_name, says("name"))}</span>`;
  const kind = review.verified_buyer ? ", verified buyer" : review.anonymous && ", not verified";
  return markup`
<article class="starpost-review"${is("Review", "review")}>
${review.title.trim() !== "" && heading}
${scoreLine(review.score, marks)}
<p class="text" dir="auto"${says("reviewBody")}>${review.content}</p>
<p class="by">By ${author}${kind}, ${day(review.created_at, marks)}</p>
${review.comment !== null && markup`<p class="text comment" dir="auto"><b>The store:</b> ${apart(review.comment)}</p>`}
</article>`;
}

export function scoreLine(score: number, { says, is, range }: Marks): Html {
  const value = markup`<span${says("ratingValue")}>${score}</span>`;
  return markup`<p${is("Rating", "reviewRating")}>${stars(score)} ${value} out of 5${range}</p>`;
}

let dayFormat: Intl.DateTimeFormat | undefined;

/** The day of a timestamp, UTC. */
export function day(timestamp: string, { says }: Marks): Html {
  // Made when it is first needed: it costs a part of a start.
  dayFormat ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
  const words = dayFormat.format(new Date(timestamp));
  return markup`<time datetime="${timestamp}"${says("datePublished")}>${words}</time>`;
}
