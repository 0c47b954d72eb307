import { account, bigint, rowId, text, defineTables } from "./columns.ts";

export const customerTables = defineTables({
  /** The record of each erasure of a customer's data. Contains no personal data. */
  erasures: {
    columns: {
      id: rowId,
      account_id: account,
      /** What was done with reviews: `anonymize` or `delete`. */
      reviews: text,
      /** JSON: the numbers of changed records, by kind. */
      counts: text,
      created_at: bigint,
    },
    fileIndexes: { erasures_by_account: "(account_id, id)" },
  },
});
