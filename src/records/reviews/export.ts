import { listReviews, type ListedReview, readList } from "../../service/listings.ts";
import { exportLayouts } from "./layouts/export.ts";
import type { ExportRow, RecordExporter } from "../../export/record-exporter.ts";

/** Source: spec "Limits": up to 100 recommended. */
const pageSize = 100;

export const reviewExporter: RecordExporter = {
  itemName: { one: "review", many: "reviews" },
  sortKeys: 5,
  layouts: exportLayouts,

  /**
   * Lists all reviews by ID, including unpublished ones. With `since`, the service sorts them by creation time and
   * numbers the pages: a review created meanwhile moves others to a later page, never to an earlier one.
   */
  pages: async function* (service, { since }, options) {
    const input = { count: pageSize, deleted: true, details: true, since_date: since };
    const ask = (query: object) => service.reviews.list(query, options);
    const numbered = { listing: { items: "reviews", by: "page" }, input, limit: undefined, ask } as const;
    const pages = since === undefined ? listReviews(service, options) : readList(numbered, options);
    for await (const page of pages) yield (page as readonly ListedReview[]).map(toRow);
  },
};

function toRow(review: ListedReview): ExportRow {
  const { id, title, content, score, created_at, sku, name, email } = review;
  return {
    id,
    sortKeys: [created_at, sku, email, title, content],
    record: {
      id,
      published: review.published ?? !review.deleted,
      // An import makes the same title again.
      review_title: review.untitled === true ? null : title,
      review_content: content,
      review_score: score,
      date: created_at,
      product_id: sku,
      display_name: name,
      email,
      comment_content: review.comment,
      product_title: review.product_title,
      product_url: review.product_url,
      user_type: review.reviewer_type,
      user_reference: review.user_reference,
      comment_date: review.comment === null ? null : review.comment_created_at,
      image_urls: review.images && joinUrls(review.images),
    },
  };
}

/** Joins URLs so that an import splits them again: a separator before a further URL, or at the end, is encoded. */
function joinUrls(urls: readonly string[]): string {
  return urls.map((url) => url.replaceAll(/[,;|](?=(?:https?:)?\/\/)|[,;|]$/gi, encodeURIComponent)).join(",");
}
