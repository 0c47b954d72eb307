import type { Layout } from "../../../import/layouts/layout.ts";
import { asReviewerType, asState } from "./values.ts";

/** The columns that most apps for Shopify share. The state columns of an app are joined: the most restrictive counts. */
const shared = {
  review_title: { from: ["title"] },
  review_content: { from: ["body"] },
  review_score: { from: ["rating"] },
  product_id: { from: ["product_id"] },
  comment_content: { from: ["reply"] },
} as const satisfies Layout["fields"];

const ofReviewer = { display_name: { from: ["reviewer_name"] }, email: { from: ["reviewer_email"] } } as const;
const ofAuthor = { display_name: { from: ["author"] }, email: { from: ["email"] } } as const;

const hiddenNote = "hidden and pending reviews are imported unpublished; spam is not imported";
const handleHint = "the file names products by their handle; to use it, pass --product-id-from handle";

/** The handle of the product, for rows without a product ID. */
const handles = (...from: readonly string[]) => ({ handle: [...from] });

export const judgeme: Layout = {
  name: "judgeme",
  title: "a Judge.me reviews export",
  signatures: [
    ["body", "rating", "review_date", "reviewer_name", "reviewer_email", "curated"],
    ["title", "body", "rating", "review_date", "reviewer_name", "reviewer_email"],
  ],
  fields: {
    ...shared,
    ...ofReviewer,
    date: { from: ["review_date"] },
    published: { from: [["curated", "state", "published"]], as: asState },
    comment_date: { from: ["reply_date"] },
    image_urls: { from: ["picture_urls"] },
  },
  productIds: handles("product_id", "product_handle"),
  notes: [hiddenNote],
};

const opinew: Layout = {
  ...judgeme,
  name: "opinew",
  title: "an Opinew reviews export",
  signatures: [
    ["body", "rating", "review_date", "state", "reviewer_name", "reviewer_email", "product_handle"],
    ["body", "rating", "review_date", "state", "reviewer_name", "reviewer_email", "product_handle", "barcode"],
  ],
  productIds: { ...handles("product_id", "product_handle"), sku: ["SKU"] },
};

export const loox: Layout = {
  name: "loox",
  title: "a Loox reviews export",
  signatures: [["status", "rating", "email", "full_name", "review", "date", "productId"]],
  fields: {
    review_content: { from: ["review"] },
    review_score: { from: ["rating"] },
    date: { from: ["date"] },
    product_id: { from: ["productId"] },
    display_name: { from: ["nickname", "full_name"] },
    email: { from: ["email"] },
    published: { from: ["status"], as: asState },
    image_urls: { from: ["img"] },
    user_type: { from: ["verified_purchase"], as: asReviewerType },
  },
  productIds: handles("productId", "handle"),
  notes: [hiddenNote],
};

const okendo: Layout = {
  name: "okendo",
  title: "an Okendo reviews export",
  signatures: [
    ["body", "handle", "productId", "rating", "dateCreated", "imageUrls"],
    ["body", "productId", "rating", "dateCreated", "reviewer.name", "reviewer.email"],
  ],
  fields: {
    ...shared,
    date: { from: ["dateCreated"] },
    product_id: { from: ["productId"] },
    display_name: { from: ["name", "reviewer.name", "reviewer.displayName"] },
    email: { from: ["email", "reviewer.email"] },
    published: { from: [["isApproved", "status"]], as: asState },
    comment_date: { from: ["replyDateCreated"] },
    comment_public: { from: ["replyIsPublic"] },
    image_urls: { from: ["imageUrls"] },
    user_type: { from: ["isVerifiedBuyer"], as: asReviewerType },
  },
  productIds: { ...handles("productId", "handle"), sku: ["sku"] },
  notes: [hiddenNote],
};

export const stamped: Layout = {
  name: "stamped",
  title: "a Stamped reviews export",
  signatures: [["product_id", "review_id", "author", "email", "state", "rating", "body", "created_at", "photos"]],
  fields: {
    ...shared,
    ...ofAuthor,
    date: { from: ["created_at"] },
    published: { from: [["state", "published"]], as: asState },
    comment_date: { from: ["replied_at"] },
    image_urls: { from: ["photos"] },
  },
  productIds: { ...handles("product_id", "product_handle"), sku: ["sku"] },
  notes: [hiddenNote],
};

/** The app of Shopify itself. It was discontinued, but its layout lives on as the import template of other apps. */
export const shopifyProductReviews: Layout = {
  name: "shopify-product-reviews",
  title: "a Shopify Product Reviews export",
  signatures: [["product_handle", "state", "rating", "author", "email", "body", "created_at"]],
  fields: {
    ...shared,
    ...ofAuthor,
    date: { from: ["created_at"] },
    published: { from: ["state"], as: asState },
    comment_date: { from: ["replied_at"] },
  },
  productIds: handles("product_handle"),
  notes: [hiddenNote],
  missingHint: handleHint,
};

const ryviu: Layout = {
  name: "ryviu",
  title: "a Ryviu reviews export",
  signatures: [["product_handle", "rating", "author", "body_text", "created_at"]],
  fields: {
    ...shared,
    ...ofAuthor,
    review_content: { from: ["body_text"] },
    date: { from: ["created_at"] },
    published: { from: ["status"], as: asState },
    image_urls: { from: ["photo_urls"] },
  },
  productIds: handles("product_handle"),
  notes: [hiddenNote],
  missingHint: handleHint,
};

export const shopifyApps: readonly Layout[] = [judgeme, loox, okendo, opinew, ryviu, shopifyProductReviews, stamped];
