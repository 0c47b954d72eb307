import { addIndex, type Migration } from "./table-builders.ts";

/** Lets the erasures of one account be read and deleted without those of others. */
export const erasureIndex: Migration = {
  version: 20,
  name: "index of erasures",
  up: async (schema, dialect) => {
    // Otherwise, the primary key has these columns.
    if (!dialect.keysHaveAccounts) await addIndex(schema, "erasures_by_account", "erasures", ["account_id", "id"]);
  },
};
