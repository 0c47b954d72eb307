import { createCsvLayout, type CsvLayout } from "../../../export/csv-layout.ts";
import type { ExportLayout, ExportRow } from "../../../export/record-exporter.ts";
import { googleFeed } from "./google-feed.ts";

type Review = ExportRow["record"];

const fields = (
  "published review_title review_content review_score date product_id display_name email comment_content " +
  "product_title product_url user_type comment_date image_urls"
).split(" ");

/** A text without surrounding whitespace, which the import of a layout ignores. */
function text(review: Review, field: string): string {
  return String(review[field] ?? "").trim();
}

/** `2026-01-31 10:00:00`, in UTC; empty without a date. */
function time(record: Review, field: string): string {
  return text(record, field).slice(0, 19).replace("T", " ");
}

function utc(record: Review, field: string): string {
  const written = time(record, field);
  return written === "" ? "" : `${written} UTC`;
}

function isPublished({ published }: Review): boolean {
  return published === true;
}

function isBuyer({ user_type }: Review): boolean {
  return user_type === "verified_buyer";
}

const judgeme: CsvLayout = {
  fields,
  columns: (
    "title body rating review_date source curated reviewer_name reviewer_email product_id product_handle " +
    "reply reply_date picture_urls ip_address location"
  ).split(" "),
  dateColumn: "review_date",
  toRows: (review) => [
    {
      title: text(review, "review_title"),
      body: text(review, "review_content"),
      rating: review["review_score"],
      review_date: utc(review, "date"),
      curated: isPublished(review) ? "ok" : "not-yet",
      reviewer_name: text(review, "display_name"),
      reviewer_email: text(review, "email"),
      product_id: text(review, "product_id"),
      reply: text(review, "comment_content"),
      reply_date: utc(review, "comment_date"),
      picture_urls: text(review, "image_urls"),
    },
  ],
};

const loox: CsvLayout = {
  fields,
  columns: "id status rating email nickname full_name review date productId handle img variant verified_purchase".split(
    " ",
  ),
  dateColumn: "date",
  toRows: (review, n) => [
    {
      id: n,
      status: isPublished(review) ? "Active" : "Hidden",
      rating: review["review_score"],
      email: text(review, "email"),
      nickname: text(review, "display_name"),
      full_name: text(review, "display_name"),
      review: text(review, "review_content"),
      date: text(review, "date"),
      productId: text(review, "product_id"),
      img: text(review, "image_urls"),
      verified_purchase: isBuyer(review),
    },
  ],
};

const yotpo: CsvLayout = {
  fields,
  columns: (
    "Review ID,Review Published,Review Title,Review Content,Review Score,Review Creation Date,Reviewer Display Name," +
    "Reviewer Email,Product ID,Product Title,Product URL,Reviewer Type,Comment Content"
  ).split(","),
  dateColumn: "Review Creation Date",
  toRows: (review, n) => [
    {
      "Review ID": n,
      "Review Published": isPublished(review),
      "Review Title": text(review, "review_title"),
      "Review Content": text(review, "review_content"),
      "Review Score": review["review_score"],
      "Review Creation Date": text(review, "date"),
      "Reviewer Display Name": text(review, "display_name"),
      "Reviewer Email": text(review, "email"),
      "Product ID": text(review, "product_id"),
      "Product Title": text(review, "product_title"),
      "Product URL": text(review, "product_url"),
      "Reviewer Type": text(review, "user_type"),
      "Comment Content": text(review, "comment_content"),
    },
  ],
};

/** What Stamped and Shopify Product Reviews have in common. */
function toShopifyRow(review: Review) {
  return {
    author: text(review, "display_name"),
    email: text(review, "email"),
    state: isPublished(review) ? "published" : "unpublished",
    rating: review["review_score"],
    title: text(review, "review_title"),
    body: text(review, "review_content"),
    created_at: utc(review, "date"),
    reply: text(review, "comment_content"),
    replied_at: utc(review, "comment_date"),
  };
}

const stamped: CsvLayout = {
  fields,
  columns: (
    "product_id review_id author email location state rating title body created_at reply replied_at photos " +
    "published product_handle sku"
  ).split(" "),
  dateColumn: "created_at",
  toRows: (review, n) => [
    {
      ...toShopifyRow(review),
      product_id: text(review, "product_id"),
      review_id: n,
      photos: text(review, "image_urls"),
      published: isPublished(review),
    },
  ],
};

/** Assumed: the product ID is written as the handle, because the layout has no other column for it. */
const shopifyProductReviews: CsvLayout = {
  fields,
  columns: "product_handle state rating title author email location body reply created_at replied_at".split(" "),
  dateColumn: "created_at",
  toRows: (review) => [{ ...toShopifyRow(review), product_handle: text(review, "product_id") }],
};

/** WordPress stores comments as HTML, in which line breaks are line breaks. */
function html(written: string): string {
  return written.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function toDates(written: string) {
  return { comment_date: written, comment_date_gmt: written };
}

/** A reply is a comment of its own, by a registered user. IDs are positions in the file. */
const woocommerce: CsvLayout = {
  fields,
  columns: (
    "comment_ID comment_post_ID comment_author comment_author_email comment_author_url comment_author_IP " +
    "comment_date comment_date_gmt comment_content comment_approved comment_parent user_id rating verified title " +
    "product_SKU product_title"
  ).split(" "),
  dateColumn: "comment_date_gmt",
  toRows: (review, n) => {
    const id = n * 2 - 1;
    const product = { comment_post_ID: text(review, "product_id"), product_title: text(review, "product_title") };
    const comment = {
      ...product,
      ...toDates(time(review, "date")),
      comment_ID: id,
      comment_author: text(review, "display_name"),
      comment_author_email: text(review, "email"),
      comment_content: html(text(review, "review_content")),
      comment_approved: isPublished(review) ? 1 : 0,
      comment_parent: 0,
      user_id: 0,
      rating: review["review_score"],
      verified: isBuyer(review) ? 1 : 0,
      title: html(text(review, "review_title")),
    };
    const reply = html(text(review, "comment_content"));
    if (reply === "") return [comment];
    const answer = {
      ...product,
      ...toDates(time(review, "comment_date")),
      comment_ID: id + 1,
      comment_author: "Shop",
      comment_content: reply,
      comment_approved: 1,
      comment_parent: id,
      user_id: 1,
    };
    return [comment, answer];
  },
};

export const exportLayouts: Readonly<Record<string, ExportLayout>> = {
  judgeme: createCsvLayout(judgeme),
  loox: createCsvLayout(loox),
  yotpo: createCsvLayout(yotpo),
  stamped: createCsvLayout(stamped),
  "shopify-product-reviews": createCsvLayout(shopifyProductReviews),
  woocommerce: createCsvLayout(woocommerce),
  google: googleFeed,
};
