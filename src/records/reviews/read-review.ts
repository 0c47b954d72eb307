import {
  contract,
  imageLimits,
  isSurelyPastReview,
  maxLength,
  reviewerTypes,
  type ReviewerType,
} from "../../contract/index.ts";
import { readBoolean, readTime } from "../../import/check/date.ts";
import { describeIssues, lastOf, readProductId } from "../../import/check/fields.ts";
import type { Item, ReportDropped, RowError, RowView } from "../../import/item.ts";
import { spam } from "./layouts/values.ts";
import { type RatingTally, readRating, type Scale, scales } from "./rating.ts";
import { faceOf, nameReview, type NewReview, type ReviewPayload } from "./review-index.ts";

const shape = contract.reviews.createNow.input;

/** The columns of fields with a different name on the wire. */
export const columnOf: Readonly<Record<string, string>> = {
  sku: "product_id",
  created_at: "date",
  comment: "comment_content",
  reviewer_type: "user_type",
};

const fieldOf = (path: readonly PropertyKey[]) => columnOf[lastOf(path)] ?? lastOf(path);

interface ReadingOptions {
  /** The highest rating, if a flag states it. */
  readonly scale: Scale | undefined;
  readonly ratings: RatingTally;
  readonly reportDropped: ReportDropped;
}

/** Checks a row; one that is marked as spam has no other errors. */
export function readReview(
  row: RowView,
  source: Item["rows"][number],
  { scale, ratings, reportDropped }: ReadingOptions,
): Item | readonly RowError[] {
  if (row("published").toLowerCase() === spam) {
    return [{ field: "published", code: spam, reason: "marks the review as spam or trash" }];
  }
  const problems: RowError[] = [];
  const sku = readProductId(row, problems);
  const given = (field: string) => row(field) || undefined;
  const score = given("review_score");
  const rating =
    score === undefined ? undefined : readRating(score, scale ?? scales.find((one) => one === row("rating_scale")));
  const content = given("review_content");
  const title = given("review_title");
  // In the order of the schema.
  const review: Readonly<Record<string, unknown>> = {
    sku,
    // A service that already has the product keeps its name.
    product_title: given("product_title") ?? sku,
    display_name: given("display_name"),
    email: given("email"),
    review_content: content,
    review_title: title ?? (content === undefined ? "-" : firstWords(content)),
    review_score: rating?.stars ?? score,
    product_description: given("product_description"),
    product_image_url: given("product_image_url"),
    user_reference: given("user_reference"),
    product_url: given("product_url"),
    past: { ...readPast(row, problems, reportDropped), ...(title === undefined && { untitled: true }) },
  };
  if (problems.length === 0 && isSurelyPastReview(review)) {
    if (rating) ratings.add(rating);
    return toItem(review, source);
  }
  const parsed = shape.safeParse(review);
  if (!parsed.success) {
    // An invalid product ID has been reported already.
    const isNew = ({ field }: RowError) => !problems.some((other) => other.field === field);
    const found = describeIssues(parsed.error.issues, fieldOf).filter(isNew);
    // Scores have a single code for all errors except missing ones.
    for (const problem of found) {
      const isScore = problem.field === "review_score" && problem.code !== "missing";
      problems.push(isScore ? { ...problem, code: "bad_score" } : problem);
    }
  }
  if (!parsed.success || problems.length > 0) return problems;
  if (rating) ratings.add(rating);
  return toItem(parsed.data, source);
}

function readPast(row: RowView, problems: RowError[], reportDropped: ReportDropped) {
  const published = readBoolean(row, "published", problems);
  const type = readReviewerType(row, reportDropped);
  const time = row("date");
  const images = readImages(row, reportDropped);
  return {
    created_at: time === "" ? undefined : (readTime(time) ?? time),
    ...(published === undefined ? {} : { published }),
    ...readComment(row, problems, reportDropped),
    ...(images.length === 0 ? {} : { images }),
    ...(type === undefined ? {} : { reviewer_type: type }),
  };
}

function readComment(row: RowView, problems: RowError[], reportDropped: ReportDropped) {
  const comment = row("comment_content");
  if (comment === "") return {};
  if (readBoolean(row, "comment_public", problems) === false) {
    reportDropped("comment_content", "the reply is not public");
    return {};
  }
  const date = row("comment_date");
  const time = date === "" ? undefined : readTime(date);
  if (date !== "" && time === undefined) reportDropped("comment_date", "is not a date, such as 2026-01-31");
  return { comment, ...(time === undefined ? {} : { comment_created_at: time }) };
}

/** Reads the URLs of a review's images; those that cannot be stored are dropped. */
function readImages(row: RowView, reportDropped: ReportDropped): string[] {
  const cell = row("image_urls");
  if (cell === "") return [];
  const urls = cell
    .split(/\s+/)
    .flatMap((word) => word.split(/[,;|](?=(?:https?:)?\/\/)/i))
    .map((url) => url.replace(/[,;|]$/, ""))
    .filter((url) => url !== "")
    .map((url) => (url.startsWith("//") ? `https:${url}` : url));
  const isUrl = (url: string) => /^https?:\/\/[^<>"]+$/i.test(url) && URL.canParse(url);
  const valid = urls.filter((url) => url.length <= maxLength.url && isUrl(url));
  if (valid.length < urls.length) reportDropped("image_urls", "an image is not the URL of a web page");
  const { perPastReview: most } = imageLimits;
  if (valid.length > most) reportDropped("image_urls", `a review has at most ${most} images`);
  return valid.slice(0, most);
}

/** Maximum length of a title made of the first words of a review, in characters. */
const maxTitle = 60;

/** The first words of a review, which stand in for its title. */
function firstWords(content: string): string {
  const text = content.replaceAll(/\s+/g, " ").trim();
  if (text.length <= maxTitle) return text;
  const start = text.slice(0, maxTitle);
  const end = start.lastIndexOf(" ");
  return `${(end > 0 ? start.slice(0, end) : start).toWellFormed().replace(/\uFFFD$/, "")}…`;
}

function toItem(review: NewReview, source: Item["rows"][number]): Item {
  const names = nameReview(faceOf(review));
  const payload: ReviewPayload = { review, names, numbers: { dated: 1, undated: 1 } };
  const size = JSON.stringify(review).length;
  const filled = review.past?.untitled ? { filled: ["review_title"] } : {};
  return { key: names.dated, batchKey: "", rows: [source], size, payload, ...filled };
}

/** `Verified Buyer` means `verified_buyer`. Unknown values are dropped. */
function readReviewerType(row: RowView, reportDropped: ReportDropped): ReviewerType | undefined {
  const value = row("user_type");
  if (value === "") return undefined;
  const name = value.toLowerCase().replaceAll(/[\s-]+/g, "_");
  const known = reviewerTypes.find((type) => type === name);
  if (known === undefined) reportDropped("user_type", `is not one of ${reviewerTypes.join(", ")}`);
  return known;
}
