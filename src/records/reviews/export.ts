import { listByPage, listReviews, type ListedReview } from "../../service/listings.ts";
import { nativeColumns } from "../../import/mapping/native-columns.ts";
import type { ExportRow, Noun } from "../../export/record-export.ts";

/** Source: spec "Limits": up to 100 recommended. */
const pageSize = 100;

export const reviews: Noun = {
  name: "reviews",
  itemName: { one: "review", many: "reviews" },
  columns: nativeColumns.reviews,
  sortKeys: 5,

  /**
   * All of them by id, those that are off the pages too. From a day on the service orders them by their creation and
   * counts pages off: a review that comes in between moves others to a later page, and none to an earlier one.
   */
  pages: async function* (service, { since }, options) {
    const asked = { count: pageSize, deleted: true, details: true };
    const pages =
      since === undefined
        ? listReviews(service, options)
        : listByPage(async (page) => {
            const query = { ...asked, since_date: since, page };
            return (await service.reviews.list(query, options)).reviews;
          });
    for await (const page of pages) yield page.map(toRow);
  },
};

function toRow(review: ListedReview): ExportRow {
  const { id, title, content, score, created_at, sku, name, email } = review;
  return {
    id,
    sortKeys: [created_at, sku, email, title, content],
    record: {
      published: review.published ?? !review.deleted,
      review_title: title,
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
    },
  };
}
