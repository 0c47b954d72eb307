import { sql } from "kysely";
import { addIndex, createOwnedTable, type Migration } from "./table-builders.ts";

/** What is needed to find everything about a customer, and to record that it was erased. */
export const customerTables: Migration = {
  version: 17,
  name: "customers, erasures",
  up: async (schema, dialect, db) => {
    await addIndex(schema, "questions_by_author", "questions", ["account_id", "user_row"]);
    await addIndex(schema, "answers_by_author", "answers", ["account_id", "user_row"]);
    // Authors whose address is verified are found by their key.
    await schema
      .createIndex("users_by_unverified_email")
      .on("users")
      .expression(sql`account_id, lower(email)`)
      .where(sql<boolean>`email_key is null`)
      .execute();
    await schema
      .createIndex("missed_products_by_email")
      .on("missed_products")
      .expression(sql`account_id, lower(user_email)`)
      .execute();
    await createOwnedTable({ schema, dialect, db }, "erasures", {
      reviews: "text",
      counts: "text",
      created_at: "bigint",
    });
    await dialect.ignoreAccountCounts("erasures", db);
  },
};
