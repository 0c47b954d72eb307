import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import {
  nameList,
  nextPage,
  searchCall,
  searchListing,
  searchPaging,
  searchText,
  timeRange,
} from "../lists/filters.ts";
import { lazily } from "../lazily.ts";
import { enveloped } from "../reply.ts";
import { shape } from "../shapes.ts";
import { listedReview, reviewStates } from "./shapes.ts";

const scores = ["1", "2", "3", "4", "5"] as const;

const scoreList = lazily(() => nameList(scores).transform((list) => list.map(Number)));

export const reviewSearch = {
  search: endpoint({
    summary: "List the account's reviews that match filters, newest first",
    listing: { items: "reviews", ...searchListing },
    ...searchCall,
    paths: [`${extensionPrefix}/apps/{app_key}/reviews`],
    input: () => ({
      email: shape.email.optional(),
      /** The store's ID; `service_site_reviews` for reviews of the store. */
      product_id: shape.id.optional(),
      /** The order whose email led to the review. */
      order_id: shape.id.optional(),
      /** Comma-separated list. */
      score: scoreList().optional(),
      /** Comma-separated list (default: published). */
      state: nameList(reviewStates).optional(),
      /** Include reviews in all states. */
      deleted: shape.boolean.optional(),
      ...timeRange(),
      /** Searches title, content, and the author's name. The list is sorted by ID. */
      search: searchText().optional(),
      with_images: shape.boolean.optional(),
      /** Only reviews without a comment of the store. */
      unanswered: shape.boolean.optional(),
      user_reference: shape.reference.optional(),
      ...searchPaging(),
    }),
    output: () => ({ reviews: z.array(listedReview()), pagination: nextPage() }),
    reply: enveloped,
  }),
};
