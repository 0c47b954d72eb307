import type { RawBuilder } from "kysely";
import type { Table } from "./tables/columns.ts";

/** A table with the words of texts: columns `account_id`, `row`, and `words`. */
export type TextTable = "review_words" | "question_words";

/** Indexed words, as `toIndexed` returns them. All phrases must occur. */
export type Phrases = readonly (readonly string[])[];

/** Indexed tags, as `toIndexedTags` returns them. One of each list must occur. */
export type Tags = readonly (readonly string[])[];

/** Full-text search, as a database implements it. */
export interface TextSearch {
  /** Lists the statements that create a table and its index. */
  createIndex(name: string, table: Table): readonly string[];
  /** The columns of the primary key. */
  keyOf(row: string): readonly string[];
  /**
   * Whether the index of words also contains tags, which stand for other fields of a record, so that it finds records by words
   * and filters together.
   */
  readonly hasTags: boolean;
  /** The value of `words` for indexed words, in order, and tags, as text; `toColumn` converts it. */
  formatWords(words: readonly string[], tags: readonly string[]): string;
  toColumn(words: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Whether all phrases, and tags if there are any, occur in the words of a row. */
  contains(words: RawBuilder<unknown>, phrases: Phrases, tags?: Tags): RawBuilder<boolean>;
  /**
   * The table to select matches from, the column with their row IDs, and the condition. Only of a database that reads
   * matches by ID, rather than all of them.
   */
  match?(table: TextTable, row: string, search: { readonly accountId: number; readonly phrases: Phrases }): TextMatch;
}

export interface TextMatch {
  readonly table: RawBuilder<unknown>;
  readonly id: RawBuilder<number>;
  readonly condition: RawBuilder<boolean>;
}
