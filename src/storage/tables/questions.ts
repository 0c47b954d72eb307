import { account, bigint, integer, optional, rowId, text, withDefault, defineTables } from "./columns.ts";

export const questionTables = defineTables({
  questions: {
    columns: {
      id: rowId,
      account_id: account,
      product_row: bigint,
      user_row: bigint,
      content: text,
      /** SHA-256 of the normalized content, because an index cannot contain texts of any length. */
      content_key: text,
      user_type: text,
      /** `pending` until confirmed by email (or, if it is held, published by the store), then `public`; `hidden` by the store. */
      state: text,
      created_at: bigint,
      confirmed_at: optional(bigint),
      /** 1 if it has a public answer. */
      answered: withDefault(integer, 0),
    },
    indexes: {
      questions_by_product: "(account_id, product_row, state, id)",
      questions_by_content: "(account_id, product_row, content_key)",
      questions_by_author: "(account_id, user_row)",
      questions_by_account: "(account_id, created_at, id)",
      questions_by_state: "(account_id, state, created_at, id)",
      questions_unanswered: "(account_id, state, created_at, id) where answered = 0",
    },
  },
  /** The words of a question and its answers, for full-text search. */
  question_words: {
    columns: {
      account_id: account,
      question_row: bigint,
      words: text,
    },
    isTextIndex: true,
  },
  answers: {
    columns: {
      id: rowId,
      account_id: account,
      question_row: bigint,
      user_row: bigint,
      content: text,
      by_store: integer,
      published: integer,
      votes_up: integer,
      votes_down: integer,
      created_at: bigint,
    },
    indexes: {
      answers_by_question: "(account_id, question_row, published)",
      answers_by_author: "(account_id, user_row)",
    },
  },
  /** Append-only, except that `previous` is removed with the text. The question or the answer may be deleted. */
  question_events: {
    columns: {
      id: rowId,
      account_id: account,
      question_row: bigint,
      /** Null if the event concerns the question. */
      answer_row: optional(bigint),
      event: text,
      by_name: text,
      reason: optional(text),
      /** The text before it was edited. */
      previous: optional(text),
      created_at: bigint,
      /** The author of the question, or of the answer. Null if it was deleted before authors were recorded. */
      user_row: optional(bigint),
    },
    indexes: {
      question_events_by_question: "(account_id, question_row, id)",
      question_events_by_author: "(account_id, user_row) where user_row is not null",
    },
  },
  /** The number of public questions of a product, and of their public answers. */
  question_totals: {
    columns: {
      account_id: account,
      product_row: bigint,
      questions: integer,
      answers: integer,
    },
    key: ["account_id", "product_row"],
    hasManyRows: true,
  },
});
