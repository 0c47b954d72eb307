import { type RecordKind, sinceFlag } from "../../import/kind.ts";

/**
 * Assumed: the columns of reviews are those of the layout, with `published` first,
 * that other vendors export, followed by the ones that it lacks.
 */
export const reviews: RecordKind = {
  name: "reviews",
  itemName: { one: "review", many: "reviews" },
  fields: [
    { name: "review_title", required: true },
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
  ],
  columns: (
    "published review_title review_content review_score date product_id display_name email " +
    "comment_content product_title product_url user_type user_reference"
  ).split(" "),
  textColumns: "review_title review_content display_name comment_content product_title user_reference".split(" "),
  urlField: "product_url",
  fixableFields: ["product_id"],
  idFields: ["product_id", "user_reference"],
  importCommand: {
    summary: "Import past reviews from CSV files (use - for standard input)",
    examples: ["starpost reviews import reviews.csv", "starpost reviews import reviews.csv --dry-run"],
  },
  exportCommand: {
    summary: "Export all reviews in the columns that `reviews import` reads",
    examples: ["starpost reviews export --out reviews.csv", "starpost reviews export --since 2026-01-01"],
    flags: { since: sinceFlag },
  },
  planExamples: [
    "starpost reviews plan reviews.csv --out plan.json",
    "starpost reviews plan reviews.csv --rejects rejects.csv",
  ],
  rejectCodes: {
    bad_score: { means: "not a star rating", hint: "write an integer from 1 to 5" },
  },
  loadImporter: async () => (await import("./import.ts")).reviewImporter,
  loadExporter: async () => (await import("./export.ts")).reviewExporter,
};
