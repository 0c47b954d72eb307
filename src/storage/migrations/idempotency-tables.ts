import { addColumns, addIndex, createOwned, type Migration } from "./table-builders.ts";

export const idempotencyTables: Migration = {
  version: 4,
  name: "idempotency keys",
  up: async (schema, dialect) => {
    await addColumns(createOwned(schema, "idempotent_calls", dialect), {
      key_hash: "text",
      input_hash: "text",
      response: "text",
      created_at: "bigint",
    })
      .addUniqueConstraint("idempotent_calls_key", ["account_id", "key_hash"])
      .execute();
    await addIndex(schema, "idempotent_calls_by_age", "idempotent_calls", ["created_at"]);
  },
};
