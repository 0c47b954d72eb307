import { sql } from "kysely";
import { addIndex, createKeyedTable, createOwnedTable, type Migration } from "./table-builders.ts";

/** Adds the history of questions, texts to the history of reviews, the moderation queue, and emails as they were sent. */
export const moderation: Migration = {
  version: 18,
  name: "history of questions, moderation queue, and sent messages",
  up: async (schema, dialect, db) => {
    await schema.alterTable("review_events").addColumn("previous", "text").execute();
    await createOwnedTable({ schema, dialect, db }, "question_events", {
      question_row: "bigint",
      "answer_row?": "bigint",
      event: "text",
      by_name: "text",
      "reason?": "text",
      "previous?": "text",
      created_at: "bigint",
    });
    await addIndex(schema, "question_events_by_question", "question_events", ["account_id", "question_row", "id"]);
    await schema
      .createIndex("reviews_to_moderate")
      .on("reviews")
      .columns(["account_id", "id"])
      .where(sql<boolean>`published = 0 and coalesce(moderation, 'held') = 'held'`)
      .execute();
    await createKeyedTable(schema, "mail_messages", ["account_id", "mail_row"], {
      mail_row: "bigint",
      subject: "text",
      headers: "text",
      text: "text",
      html: "text",
      sent_at: "bigint",
    });
    await addIndex(schema, "mail_messages_by_age", "mail_messages", ["account_id", "sent_at"]);
    for (const table of ["question_events", "mail_messages"]) await dialect.ignoreAccountCounts(table, db);
  },
};
