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
    /** `pending` until confirmed by email, then `public`; `hidden` by the store. */
    state: string;
    created_at: number;
    confirmed_at: number | null;
    /** 1 if it has a public answer. */
    answered: Generated<number>;
  };
  /** The words of a question and its answers, for full-text search. */
  question_words: { account_id: number; question_row: number; words: string };
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
  /** Append-only, except that `previous` is removed with the text. The question or the answer may be deleted. */
  question_events: {
    id: Generated<number>;
    account_id: number;
    question_row: number;
    /** Null if the event concerns the question. */
    answer_row: number | null;
    /** The author of the question, or of the answer. Null if it was deleted before authors were recorded. */
    user_row: number | null;
    event: string;
    by_name: string;
    reason: string | null;
    /** The text before it was edited. */
    previous: string | null;
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
