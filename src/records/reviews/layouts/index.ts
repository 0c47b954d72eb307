import { emailKeyOf, siteReviewsId } from "../../../contract/index.ts";
import type { Layout, CellView, Family } from "../../../import/layouts/layout.ts";
import { shopifyApps } from "./shopify-apps.ts";
import { asReviewerType, asState, asComment } from "./values.ts";

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
  const author = emailKeyOf(cell("comment_author_email"));
  const isOther = author === "" || author !== emailKeyOf(review("comment_author_email"));
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
  reads: ["comment_parent", "user_id"],
  notes: [
    "a reply of the shop becomes the comment of its review",
    "pending reviews are imported unpublished; spam and trash are not imported",
  ],
};

/** Both forms of Yotpo's export. The shorter one has all native columns that are required. */
export const yotpo: Layout = {
  name: "yotpo",
  title: "a Yotpo reviews export",
  signatures: [
    ["Review Content", "Review Score", "Review Creation Date", "Reviewer Display Name", "Reviewer Email", "Product ID"],
    ["Review Title", "Review Content", "Review Score", "Date", "Product ID", "Product Name", "Display Name", "Email"],
  ],
  fields: {
    review_title: { from: ["Review Title"] },
    review_content: { from: ["Review Content"] },
    review_score: { from: ["Review Score"] },
    date: { from: ["Review Creation Date", "Date"] },
    product_id: { from: ["Product ID"] },
    display_name: { from: ["Reviewer Display Name", "Display Name"] },
    email: { from: ["Reviewer Email", "Email"] },
    published: { from: [["Review Published", "Review Status"]], as: asState },
    comment_content: { from: ["Comment Content"] },
    product_title: { from: ["Product Title", "Product Name"] },
    product_url: { from: ["Product URL"] },
    user_type: { from: ["Reviewer Type"], as: asReviewerType },
    image_urls: { from: ["Published Image URLs", "Image URLs"] },
  },
  notes: ["hidden and pending reviews are imported unpublished; spam is not imported"],
};

/**
 * Trustpilot's reviews of a shop.
 * Assumed: they are reviews of the store itself, because they name an order (`Reference Id`) and no product.
 */
const trustpilot: Layout = {
  name: "trustpilot",
  title: "a Trustpilot reviews export",
  signatures: [["Review Created (UTC)", "Review Content", "Review Stars", "Consumer Username"]],
  fields: {
    review_title: { from: ["Review Title"] },
    review_content: { from: ["Review Content"] },
    review_score: { from: ["Review Stars"] },
    date: { from: ["Review Created (UTC)"] },
    display_name: { from: ["Consumer Username"] },
    email: { from: ["Consumer email"] },
    published: { from: [["Review Status", "Status"]], as: asState },
    comment_content: { from: ["Company Reply Content"] },
    comment_date: { from: ["Company Reply Date (UTC)"] },
  },
  constants: { product_id: siteReviewsId },
  notes: ["these are reviews of the store itself, because Trustpilot's export names no products"],
};

export const reviewLayouts: readonly Layout[] = [...shopifyApps, yotpo, woocommerceReviews, trustpilot];
