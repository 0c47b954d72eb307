import { siteReviewsId } from "../../../contract/index.ts";
import type { Layout } from "../../../import/layouts/layout.ts";
import { shopifyApps } from "./shopify-apps.ts";
import { asReviewerType, asState } from "./values.ts";
import { woocommerceReviews } from "./woocommerce.ts";

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
