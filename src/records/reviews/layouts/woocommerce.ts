import type { CellView, Family, Layout } from "../../../import/layouts/layout.ts";
import { asComment, asReviewerType, asState } from "./values.ts";

function isReply(cell: CellView): boolean {
  return !/^0*$/.test(cell("comment_parent"));
}

/** A reply belongs to its review, and a reply to a reply to the same review. */
function familyOf(cell: CellView): Family | undefined {
  const id = cell("comment_ID");
  if (isReply(cell)) return { key: cell("comment_parent"), aliases: id === "" ? [] : [id] };
  return id === "" ? undefined : { key: id };
}

/** Whether a reply is public and by the shop: by a registered user who is neither the author nor another buyer. */
function isByShop(cell: CellView, review: CellView): boolean {
  const author = cell("comment_author_email").toLowerCase();
  const isOther = author === "" || author !== review("comment_author_email").toLowerCase();
  return isOther && asState(cell("comment_approved")) === "true" && cell("user_id") !== "0" && !isBuyer(cell);
}

function isBuyer(cell: CellView): boolean {
  return cell("verified") !== "" && asState(cell("verified")) === "true";
}

/** MySQL's empty date. */
function isNoDate(value: string): boolean {
  return value.startsWith("0000");
}

/**
 * The comments of WordPress that are product reviews, as WooCommerce's export extensions write them.
 * Assumed: products are identified by their number in the shop; a reply of the shop is a row that names its review.
 */
export const woocommerceReviews: Layout = {
  name: "woocommerce-reviews",
  title: "a WooCommerce reviews export",
  signatures: [["comment_ID", "comment_post_ID", "comment_author_email", "comment_content", "comment_approved"]],
  fields: {
    review_title: { from: ["title"], as: asComment },
    review_content: { from: ["comment_content"], as: asComment },
    review_score: { from: ["rating"] },
    date: { from: ["comment_date_gmt", "comment_date"], countsAsEmpty: isNoDate },
    product_id: { from: ["comment_post_ID"] },
    display_name: { from: ["comment_author"] },
    email: { from: ["comment_author_email"] },
    published: { from: ["comment_approved"], as: asState },
    user_type: { from: ["verified"], as: asReviewerType },
    product_title: { from: ["product_title"] },
    comment_content: { from: ["comment_content"], as: asComment },
    comment_date: { from: ["comment_date_gmt", "comment_date"], countsAsEmpty: isNoDate },
  },
  productIds: { sku: ["product_SKU"] },
  hasHtml: true,
  groups: {
    by: { family: familyOf },
    makes: "one",
    lead: {
      is: (cell) => !isReply(cell),
      missing: { column: "comment_parent", reason: "names a comment that is not in the file" },
    },
    replies: {
      fields: ["comment_content", "comment_date"],
      is: isByShop,
      otherwise: "only the first public reply of the shop becomes the comment of a review",
    },
  },
  notes: [
    "a reply of the shop becomes the comment of its review",
    "pending reviews are imported unpublished; spam and trash are not imported",
  ],
};
