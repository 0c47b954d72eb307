import { sql } from "kysely";
import { addIndex, type Migration } from "./table-builders.ts";

/** Lets the history of a question or an answer be found by its author, also when it was deleted. */
export const questionAuthors: Migration = {
  version: 21,
  name: "authors in the history of questions",
  up: async (schema) => {
    await schema.alterTable("question_events").addColumn("user_row", "bigint").execute();
    await addIndex(schema, "question_events_by_author", "question_events", ["account_id", "user_row"], {
      notNull: "user_row",
    });
  },
  updateRows: async (db) => {
    await sql`update question_events set user_row = questions.user_row from questions
      where questions.account_id = question_events.account_id and questions.id = question_events.question_row
        and question_events.answer_row is null`.execute(db);
    await sql`update question_events set user_row = answers.user_row from answers
      where answers.account_id = question_events.account_id and answers.id = question_events.answer_row`.execute(db);
  },
};
