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
  };
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
    /** The delayed bottom line: number of reviews, and sum of their scores. */
    shown_reviews: number;
    shown_score: number;
    /** 1 if the list of bottom lines includes the product: it or its group has reviews. */
    listed: number;
    /** Of the delayed bottom line. */
    updated_at: number;
  };
  /** Changes that the delayed bottom lines do not include yet. */
  bottom_line_changes: {
    id: Generated<number>;
    account_id: number;
    shelf: string;
    reviews: number;
    score: number;
    due_at: number;
  };
  /** Append-only. */
  review_events: {
    id: Generated<number>;
    account_id: number;
    review_row: number;
    event: string;
    by_name: string;
    reason: string | null;
    created_at: number;
  };
  review_images: {
    id: Generated<number>;
    account_id: number;
    review_row: number;
    content_type: string;
    base64: string;
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
