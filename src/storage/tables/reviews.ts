import { isRatedProductText, starAverageText, starCountText } from "../rating-sql.ts";
import { account, bigint, bytes, integer, optional, rowId, text, withDefault, defineTables } from "./columns.ts";

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
      /** Whether the title was made from the content, because the author gave none. */
      untitled: withDefault(integer, 0),
      /** Whether its author received a coupon for it. */
      received_coupon: withDefault(integer, 0),
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
      reviews_by_reviewer_type: "(account_id, rating_target, published, reviewer_type, created_at, id, score)",
      reviews_by_author: "(account_id, user_row, product_row, created_at)",
      reviews_to_moderate: "(account_id, id) where published = 0 and coalesce(moderation, 'held') = 'held'",
      reviews_by_product: "(account_id, product_row, created_at, id, published, score, images)",
      reviews_by_account_score:
        "(account_id, score, (case when comment is null then 0 else 1 end), created_at, id, published)",
      reviews_hidden: "(account_id, (coalesce(moderation, 'pending')), created_at, id) where published = 0",
      reviews_with_images: "(account_id, created_at, id) where images > 0",
      // The expression makes SQLite prefer it to the index of all reviews by date.
      reviews_with_photos: `(account_id, rating_target, published, (case when images > 0 then 1 else 0 end), created_at, id)
        where images > 0 and (reviewer_type <> 'anonymous' or moderation = 'published')`,
    },
    uniqueIndexes: { reviews_by_order: "(account_id, order_row, product_row) where order_row is not null" },
  },
  /** The words of title, content, and author, as `search-index.ts` lists them, for full-text search. */
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
      /** Time of the last change. */
      updated_at: bigint,
    },
    key: ["account_id", "rating_target"],
    hasManyRows: true,
    indexes: {
      review_totals_by_product: "(account_id, product_row) where product_row is not null",
      review_totals_best: `(account_id, ${starAverageText} desc, ${starCountText} desc, product_row) where ${isRatedProductText}`,
    },
  },
  /** The bottom lines of products and groups before each change of the last day. */
  bottom_line_changes: {
    columns: {
      id: rowId,
      account_id: account,
      rating_target: text,
      reviews: integer,
      score: integer,
      changed_at: bigint,
      /** The group that the product was in; 0 for none. */
      group_row: withDefault(bigint, 0),
      /** Time of the change before. */
      updated_at: withDefault(bigint, 0),
    },
    indexes: {
      bottom_line_changes_by_target: "(account_id, rating_target, changed_at)",
      bottom_line_changes_by_time: "(account_id, changed_at)",
    },
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
      /** The review before it was edited, or the store's comment before it was edited or deleted. */
      previous: optional(text),
    },
    indexes: { review_events_by_review: "(account_id, review_row, id)" },
  },
  review_images: {
    columns: {
      id: rowId,
      account_id: account,
      review_row: bigint,
      /** The type of a photo that an earlier version stored as text, until the worker converts it; otherwise empty. */
      content_type: text,
      /** Such a photo; otherwise empty. */
      base64: text,
      created_at: bigint,
      /** The thumbnail of such a photo, unless it is older than thumbnails. */
      thumb_base64: optional(text),
      /** Where the image of a past review is, or was before it was copied here. */
      url: optional(text),
      /** Null for such an image without bytes here, and for a photo that is text. */
      photo_type: optional(text),
      /** The length of all sizes of a photo, in bytes; until the worker converts `photo`, its length. */
      photo_size: optional(integer),
      thumb_size: optional(integer),
      /** A photo as an earlier version stored it, until the worker converts it, with its thumbnail if it has one. */
      thumb: optional(bytes),
      photo: optional(bytes),
      /** The dimensions of the largest size, in pixels. Null without sizes; 0 if they cannot be made. */
      width: optional(integer),
      height: optional(integer),
      /** The average color as `#rrggbb`. */
      color: optional(text),
      // The last ones, because SQLite reads everything before a column. A size that equals the next one is null.
      webp_160: optional(bytes),
      webp_480: optional(bytes),
      webp_1200: optional(bytes),
    },
    indexes: {
      review_images_by_review: "(account_id, review_row, id)",
      review_images_to_convert: "(account_id, id) where url is null and width is null",
      review_images_to_fetch: "(account_id, id) where url is not null and width is null",
    },
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
