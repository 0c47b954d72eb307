import { addColumns, addIndex, type Migration, withId } from "./table-builders.ts";

/** Tables whose rows could only be found by account by reading all rows. */
const unindexed = [
  "answers",
  "question_totals",
  "questions",
  "review_events",
  "review_images",
  "review_totals",
  "votes",
] as const;

/** Lets the operator disable and delete accounts and invite their owners. */
export const accountStates: Migration = {
  version: 9,
  name: "disabled accounts and invitations",
  up: async (schema, dialect) => {
    for (const column of ["disabled_at", "deletion_began_at", "secret_changed_at"]) {
      await schema.alterTable("accounts").addColumn(column, "bigint").execute();
    }
    await addColumns(withId(schema, "invitations", dialect), {
      code_hash: "text",
      created_at: "bigint",
      expires_at: "bigint",
    })
      .addUniqueConstraint("invitations_code", ["code_hash"])
      .execute();
    for (const table of unindexed) await addIndex(schema, `${table}_of_account`, table, ["account_id"]);
  },
};
