import { valuesOfField } from "../../program/field-values.ts";
import { filteredList } from "../operations/filtered-list.ts";

/** What the filters of reviews mean. */
export const filterDescriptions = {
  email: "only reviews by this person",
  product_id: "only reviews of this product (service_site_reviews: of the store)",
  order_id: "only the reviews that an email about this order led to",
  search: 'only reviews whose title, content, or author contain all of these words, or a "quoted phrase"',
  unanswered: "only reviews without a comment of the store",
  with_images: "only reviews with images",
  user_reference: "only reviews by the author with this reference of the store",
  deleted: "include hidden reviews",
};

export default filteredList({
  operation: "reviews.list",
  search: "reviews.search",
  states: valuesOfField("reviews.list", "state"),
  summary: "List all reviews, or those that match filters",
  descriptions: filterDescriptions,
  examples: [
    "starpost reviews list --since 7d --score 1..2 --unanswered",
    "starpost reviews list --email ann@mail.example --deleted",
    "starpost reviews list --product teapot --search 'lid leaks'",
    "starpost reviews list --state held",
    "starpost reviews list --since-date 2026-01-01 --limit 20",
    "starpost reviews list --deleted --details --json",
  ],
});
