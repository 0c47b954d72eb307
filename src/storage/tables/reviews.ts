import { isRatedProductText, starAverageText, starCountText } from "../rating-sql.ts";
import { account, bigint, integer, optional, rowId, text, withDefault, defineTables } from "./columns.ts";

export const reviewTables = defineTables({
  reviews: {
    columns: {
      id: rowId,
      account_id: account,
      /** Null for a site review. */
      product_row: optional(bigint),
      user_row: bigint,
      /** The rating target: `p<product>`, `g<group>` while the product is in a group, or `s<account>`. */
      rating_target: text,
      title: text,
      content: text,
      score: integer,
      reviewer_type: text,
      user_reference: optional(text),
      domain: optional(text),
      /** Whether the review is shown and counted: follows `moderation`, or else the account's setting. */
      published: integer,
      votes_up: integer,
      votes_down: integer,
      comment: optional(text),
      comment_at: optional(bigint),
      images: integer,
      created_at: bigint,
      updated_at: bigint,
      /** The order whose email led to the review. */
      order_row: optional(bigint),
      /** `published` or `unpublished` by the store, or `held` until it decides; null follows the account's setting. */
      moderation: optional(text),
    },
    indexes: {
      reviews_by_account_id: "(account_id, id, published)",
      reviews_by_account_creation: "(account_id, created_at, id, published)",
      reviews_by_account_change: "(account_id, updated_at, id, published)",
      reviews_by_account_reference: "(account_id, user_reference, id, published)",
      reviews_of_products_by_score: "(account_id, published, score, created_at, id) where product_row is not null",
      reviews_by_date: "(account_id, rating_target, published, created_at, id)",
      reviews_by_score: "(account_id, rating_target, published, score, created_at, id)",
      reviews_by_votes_up: "(account_id, rating_target, published, votes_up, created_at, id)",
      reviews_by_votes_down: "(account_id, rating_target, published, votes_down, created_at, id)",
      reviews_by_reviewer_type: "(account_id, rating_target, published, reviewer_type, created_at, id)",
      reviews_by_author: "(account_id, user_row, product_row, created_at)",
      reviews_to_moderate: "(account_id, id) where published = 0 and coalesce(moderation, 'held') = 'held'",
      reviews_by_product: "(account_id, product_row, created_at, id, published, score, images)",
      reviews_by_account_score:
        "(account_id, score, (case when comment is null then 0 else 1 end), created_at, id, published)",
      reviews_hidden: "(account_id, (coalesce(moderation, 'pending')), created_at, id) where published = 0",
      reviews_with_images: "(account_id, created_at, id) where images > 0",
    },
    uniqueIndexes: { reviews_by_order: "(account_id, order_row, product_row) where order_row is not null" },
  },
  /** The words of title, content, and author, as `search-words.ts` lists them, for full-text search. */
  review_words: {
    columns: {
      account_id: account,
      review_row: bigint,
      words: text,
    },
    isTextIndex: true,
  },
  /** Published reviews of a rating target by stars. A product keeps its own row while it is in a group. */
  review_totals: {
    columns: {
      account_id: account,
      rating_target: text,
      product_row: optional(bigint),
      stars_1: integer,
      stars_2: integer,
      stars_3: integer,
      stars_4: integer,
      stars_5: integer,
      /** The bottom line that is listed: number of reviews, and sum of their scores. Includes the applied changes. */
      shown_reviews: integer,
      shown_score: integer,
      /** 1 if the list of bottom lines includes the product: it or its group has reviews. */
      listed: integer,
      /** Time of the last change that is listed. */
      updated_at: bigint,
      /** The group that the product is listed with; 0 for none. */
      shown_group: withDefault(bigint, 0),
    },
    key: ["account_id", "rating_target"],
    hasManyRows: true,
    indexes: {
      review_totals_listed: "(account_id, product_row, updated_at) where listed = 1",
      review_totals_best: `(account_id, ${starAverageText} desc, ${starCountText} desc, product_row) where ${isRatedProductText}`,
      review_totals_grouped: "(account_id, product_row, updated_at, shown_group) where listed = 1 and shown_group > 0",
      review_totals_by_group: "(account_id, shown_group) where shown_group > 0",
    },
  },
  /** Changes of the last day, in the order in which they were made. Those that are applied come first. */
  bottom_line_changes: {
    columns: {
      id: rowId,
      account_id: account,
      rating_target: text,
      reviews: integer,
      score: integer,
      /** The groups before and after a product was moved, 0 for none; null for other changes. */
      left_group: optional(bigint),
      joined_group: optional(bigint),
      /** Whether the bottom lines in `review_totals` include the change. */
      applied: integer,
      changed_at: bigint,
    },
    indexes: { bottom_line_changes_by_time: "(account_id, applied, changed_at)" },
  },
  /** Append-only. */
  review_events: {
    columns: {
      id: rowId,
      account_id: account,
      review_row: bigint,
      event: text,
      by_name: text,
      reason: optional(text),
      created_at: bigint,
      /** The store's comment before it was edited or deleted. */
      previous: optional(text),
    },
    indexes: { review_events_by_review: "(account_id, review_row, id)" },
  },
  review_images: {
    columns: {
      id: rowId,
      account_id: account,
      review_row: bigint,
      content_type: text,
      base64: text,
      created_at: bigint,
      /** Null for images that were stored before thumbnails. */
      thumb_base64: optional(text),
      /** Where the image of a past review is; such an image has no bytes here. */
      url: optional(text),
    },
    indexes: { review_images_by_review: "(account_id, review_row, id)" },
  },
  votes: {
    columns: {
      id: rowId,
      account_id: account,
      /** `review` or `answer`. */
      target: text,
      target_row: bigint,
      direction: text,
      created_at: bigint,
    },
    fileIndexes: { votes_of_account: "(account_id)" },
  },
});
