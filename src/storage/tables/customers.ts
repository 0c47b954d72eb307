import type { Generated } from "kysely";

export interface CustomerTables {
  /** The record of each erasure of a customer's data. Contains no personal data. */
  erasures: {
    id: Generated<number>;
    account_id: number;
    /** What was done with reviews: `anonymize` or `delete`. */
    reviews: string;
    /** JSON: the numbers of changed records, by kind. */
    counts: string;
    created_at: number;
  };
}
