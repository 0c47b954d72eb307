import type { Generated } from "kysely";

export interface QuestionTables {
  questions: {
    id: Generated<number>;
    account_id: number;
    product_row: number;
    user_row: number;
    content: string;
    /** SHA-256 of the normalized content, because an index cannot contain texts of any length. */
    content_key: string;
    user_type: string;
    /** `pending` until confirmed by email, then `public`. */
    state: string;
    created_at: number;
    confirmed_at: number | null;
  };
  answers: {
    id: Generated<number>;
    account_id: number;
    question_row: number;
    user_row: number;
    content: string;
    by_store: number;
    published: number;
    votes_up: number;
    votes_down: number;
    created_at: number;
  };
  /** The number of public questions of a product, and of their public answers. */
  question_totals: {
    account_id: number;
    product_row: number;
    questions: number;
    answers: number;
  };
}
