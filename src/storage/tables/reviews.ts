import type { Generated } from "kysely";

export interface ReviewTables {
  reviews: {
    id: Generated<number>;
    account_id: number;
    /** Null for a site review. */
    product_row: number | null;
    user_row: number;
    /** The rating target: `p<product>`, `g<group>` while the product is in a group, or `s<account>`. */
    shelf: string;
    title: string;
    content: string;
    score: number;
    reviewer_type: string;
    user_reference: string | null;
    domain: string | null;
    /** Whether the review is shown and counted: follows `moderation`, or else the account's setting. */
    published: number;
    votes_up: number;
    votes_down: number;
    comment: string | null;
    comment_at: number | null;
    images: number;
    created_at: number;
    updated_at: number;
    /** The order whose email led to the review. */
    order_row: Generated<number | null>;
    /** `published` or `unpublished` by the store, or `held` until it decides; null follows the account's setting. */
    moderation: Generated<string | null>;
  };
  /** The words of title, content, and author, as `search-words.ts` lists them, for full-text search. */
  review_words: { account_id: number; review_row: number; words: string };
  /** Published reviews of a rating target by stars. A product keeps its own row while it is in a group. */
  review_totals: {
    account_id: number;
    shelf: string;
    product_row: number | null;
    stars_1: number;
    stars_2: number;
    stars_3: number;
    stars_4: number;
    stars_5: number;
    /** The bottom line that is listed: number of reviews, and sum of their scores. Includes the applied changes. */
    shown_reviews: number;
    shown_score: number;
    /** The group that the product is listed with; 0 for none. */
    shown_group: Generated<number>;
    /** 1 if the list of bottom lines includes the product: it or its group has reviews. */
    listed: number;
    /** Time of the last change that is listed. */
    updated_at: number;
  };
  /** Changes of the last day, in the order in which they were made. Those that are applied come first. */
  bottom_line_changes: {
    id: Generated<number>;
    account_id: number;
    shelf: string;
    reviews: number;
    score: number;
    /** The groups before and after a product was moved, 0 for none; null for other changes. */
    left_group: number | null;
    joined_group: number | null;
    /** Whether the bottom lines in `review_totals` include the change. */
    applied: number;
    changed_at: number;
  };
  /** Append-only. */
  review_events: {
    id: Generated<number>;
    account_id: number;
    review_row: number;
    event: string;
    by_name: string;
    reason: string | null;
    /** The store's comment before it was edited or deleted. */
    previous: Generated<string | null>;
    created_at: number;
  };
  review_images: {
    id: Generated<number>;
    account_id: number;
    review_row: number;
    content_type: string;
    base64: string;
    /** Null for images that were stored before thumbnails. */
    thumb_base64: string | null;
    /** Where the image of a past review is; such an image has no bytes here. */
    url: string | null;
    created_at: number;
  };
  votes: {
    id: Generated<number>;
    account_id: number;
    /** `review` or `answer`. */
    target: string;
    target_row: number;
    direction: string;
    created_at: number;
  };
}
