import { type RecordKind, sinceFlag } from "../../import/kind.ts";

/**
 * Assumed: the columns of reviews are those of the layout, with `published` first,
 * that other vendors export, followed by the ones that it lacks.
 */
export const reviews: RecordKind = {
  name: "reviews",
  itemName: { one: "review", many: "reviews" },
  fields: [
    { name: "review_title", isGuarded: true },
    { name: "review_content", required: true },
    { name: "review_score", required: true },
    { name: "date", required: true },
    { name: "product_id", aliases: ["sku"], required: true },
    { name: "display_name", required: true },
    { name: "email", aliases: ["user_email"], required: true },
    { name: "published", isGuarded: true },
    { name: "comment_content", isGuarded: true },
    { name: "product_title" },
    { name: "product_url" },
    { name: "product_description" },
    { name: "product_image_url" },
    { name: "user_type", aliases: ["reviewer_type"] },
    { name: "user_reference" },
    { name: "comment_date" },
    { name: "image_urls" },
    { name: "comment_public", isMappedOnly: true },
    { name: "rating_scale", isMappedOnly: true },
  ],
  columns: (
    "published review_title review_content review_score date product_id display_name email comment_content " +
    "product_title product_url user_type user_reference comment_date image_urls"
  ).split(" "),
  textColumns: "review_title review_content display_name comment_content product_title user_reference".split(" "),
  urlField: "product_url",
  dateField: "date",
  fixableFields: ["product_id"],
  productIdColumns: { handle: ["product_handle", "handle"], sku: ["sku", "product_sku"] },
  idFields: ["product_id", "user_reference"],
  layoutNames:
    "judgeme loox okendo opinew ryviu shopify-product-reviews stamped yotpo woocommerce-reviews trustpilot".split(" "),
  importCommand: {
    summary: "Import past reviews from CSV, Excel, or JSON files",
    examples: [
      "starpost reviews import reviews.csv",
      "starpost reviews import judgeme-export.csv --dry-run",
      "starpost reviews import ryviu.csv --product-id-from handle",
    ],
    flags: {
      "rating-scale": {
        value: "<n>",
        description: "highest rating of the files: 5, 10, or 100 (default: auto-detect)",
        option: "ratingScale",
        values: ["5", "10", "100"],
      },
    },
  },
  exportCommand: {
    summary: "Export all reviews in the columns that `reviews import` reads",
    examples: [
      "starpost reviews export --out reviews.csv",
      "starpost reviews export --layout judgeme --out judgeme.csv",
      "starpost reviews export --layout google --out google.xml",
    ],
    flags: {
      since: sinceFlag,
      layout: {
        value: "<name>",
        description: "layout of another service",
        option: "layout",
        values: ["judgeme", "loox", "yotpo", "stamped", "shopify-product-reviews", "woocommerce", "google"],
      },
    },
  },
  planExamples: [
    "starpost reviews plan reviews.csv --out plan.json",
    "starpost reviews plan reviews.csv --rejects rejects.csv",
  ],
  rejectCodes: {
    bad_score: {
      means: "not a star rating",
      hint: "write an integer from 1 to 5, or pass --rating-scale if ratings are out of 10 or 100",
    },
    spam: {
      means: "marked as spam or trash in the file, and therefore not stored",
      hint: "if the review is genuine, correct its state",
    },
    review_incomplete: {
      means: "another row of the same review is invalid, so neither the review nor its reply was imported",
      hint: "correct that line and import both rows together",
    },
  },
  filledFields: {
    review_title: {
      one: "title from the first words of its review",
      many: "titles from the first words of their reviews",
    },
  },
  confirmation: (_options, files) => `Import the reviews in ${files}? Edited ones are updated.`,
  loadImporter: async () => (await import("./import.ts")).reviewImporter,
  loadExporter: async () => (await import("./export.ts")).reviewExporter,
};
