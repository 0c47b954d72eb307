import { account, bigint, defineTables, integer, text } from "./columns.ts";

/** The index with which records are found by a part of their texts: see `kernel/lists/part-index.ts`. */
export const searchTables = defineTables({
  /** Blocks of indexed records, in the order of their IDs. */
  search_blocks: {
    columns: {
      account_id: account,
      /** The table of the records. */
      kind: text,
      /** Counts from 0. */
      block: integer,
      first_row: bigint,
      last_row: bigint,
      /** The IDs of the records: see `writeIds` in `kernel/lists/postings.ts`. */
      rows: text,
      /** 0 if texts have changed since the block was indexed. */
      is_current: integer,
    },
    key: ["account_id", "kind", "block"],
    hasManyRows: true,
  },
  search_postings: {
    columns: {
      account_id: account,
      kind: text,
      /** A part of the hash of three characters. */
      bucket: integer,
      /** Several blocks. */
      segment: integer,
      /** Which records of each block contain which characters: see `kernel/lists/postings.ts`. */
      postings: text,
    },
    key: ["account_id", "kind", "bucket", "segment"],
    hasManyRows: true,
    hasLongTexts: true,
  },
});
