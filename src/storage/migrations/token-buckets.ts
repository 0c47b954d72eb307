import { addColumns, type Migration } from "./table-builders.ts";

/** Limits of public calls that several processes share. */
export const tokenBuckets: Migration = {
  version: 13,
  name: "token buckets",
  up: async (schema) => {
    await addColumns(schema.createTable("token_buckets"), { name: "text", full_at: "bigint" })
      .addPrimaryKeyConstraint("token_buckets_key", ["name"])
      .execute();
  },
};
