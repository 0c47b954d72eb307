import type { ListedReview } from "../../contract/index.ts";
import type { Item } from "../../import/item.ts";
import * as comparable from "../../import/verify/comparable.ts";
import { joinKey, type StoredRecord, type StoredRecords } from "../../import/verify/stored-records.ts";
import { listReviews } from "../../service/listings.ts";
import { nameReview, type NewReview, type ReviewPayload } from "./review-index.ts";

/**
 * Reviews are recognized by product, address, title, content, and score. One whose title, content, or score has changed
 * is recognized by product, address, and date.
 */
export const storedReviews: StoredRecords = {
  expected: function* ({ payload, rows }: Item) {
    const { names, numbers, review } = payload as ReviewPayload;
    const { undated: n } = numbers;
    const [row] = rows;
    if (!row) return;
    const sent = { product_id: String(review.sku), email: review.email };
    const { review_title, review_content, review_score, past } = review;
    const written = {
      review_title: comparable.sentText(review_title),
      review_content: comparable.sentText(review_content),
      review_score: comparable.sentText(review_score),
    };
    const key = past?.created_at === undefined ? undefined : dateKey(sent.product_id, review.email, past.created_at);
    yield {
      key: names.undated,
      needs: n,
      of: n,
      row,
      field: "review_content",
      names: sent,
      values: [valuesSent(review)],
      firstUnit: n - 1,
      ...(key !== undefined && { changed: { key, values: { ...written, ...valuesSent(review) } } }),
    };
  },
  list: async function* (service, options) {
    for await (const page of listReviews(service, options)) yield page.flatMap(toRecords);
  },
};

function dateKey(productId: string, email: string, date: string): string {
  return joinKey(productId, email.toLowerCase(), String(Date.parse(date)));
}

function valuesSent({ display_name, user_reference, past }: NewReview): comparable.Values {
  return {
    display_name: comparable.sentText(display_name),
    user_reference: comparable.sentText(user_reference),
    date: comparable.sentTime(past?.created_at),
    comment_content: comparable.sentText(past?.comment),
    comment_date: comparable.sentTime(past?.comment_created_at),
    image_urls: comparable.sentText(past?.images?.join(" ")),
    published: comparable.sentText(past?.published),
    user_type: comparable.sentText(past?.reviewer_type),
  };
}

/**
 * A review by each of its keys.
 * Assumed: a service that returns no details ignores the past of a review, and the import has reported that.
 */
function toRecords(review: ListedReview): StoredRecord[] {
  const { sku, email, title, content, score, published, created_at } = review;
  const isDetailed = published !== undefined;
  const values = {
    display_name: comparable.text(review.name),
    user_reference: isDetailed ? comparable.text(review.user_reference) : undefined,
    date: isDetailed ? comparable.time(created_at) : undefined,
    comment_content: isDetailed ? comparable.text(review.comment ?? null) : undefined,
    comment_date: isDetailed ? comparable.time(review.comment_created_at) : undefined,
    image_urls: comparable.text(review.images?.join(" ")),
    published: comparable.text(published),
    user_type: isDetailed ? comparable.text(review.reviewer_type) : undefined,
  };
  const written = {
    review_title: comparable.text(title),
    review_content: comparable.text(content),
    review_score: comparable.text(score),
  };
  return [
    { key: nameReview(review).undated, values },
    { key: dateKey(sku, email, created_at), values: { ...written, ...values } },
  ];
}
