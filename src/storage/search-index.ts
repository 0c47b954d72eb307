import { type Kysely, type RawBuilder, sql } from "kysely";
import { batchOf } from "./batch.ts";
import type { StorageDialect } from "./dialect.ts";
import { listWords, toIndexed, toIndexedTags } from "./search-words.ts";
import { createDeferredStatement } from "./statement.ts";
import type { TextTable } from "./text-search.ts";
import type { Tables } from "./tables.ts";

/** The texts of a record, which are searched together, and what else it is found by. */
export interface SearchedTexts {
  readonly id: number;
  readonly texts: readonly string[];
  /** For databases that index them together with words; those of `listPositionTags`, and of other fields. */
  readonly tags?: readonly string[];
}

/** The column of each table with the record's ID. */
export const rowColumns = { review_words: "review_row", question_words: "question_row" } as const;

/** Adds records to the index, or replaces their words. */
export async function indexTexts(
  table: TextTable,
  records: readonly SearchedTexts[],
  accountId: number,
  { db, dialect }: { readonly db: Kysely<Tables>; readonly dialect: StorageDialect },
): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => [record.id, formatRecord(record, accountId, dialect)]);
  await statements[table](db, dialect, { accountId, rows: JSON.stringify(rows) });
}

function formatRecord({ texts, tags = [] }: SearchedTexts, accountId: number, { textSearch }: StorageDialect): string {
  const words = toIndexed(accountId, listWords(texts.join("\n")));
  return textSearch.formatWords(words, toIndexedTags(accountId, tags));
}

function createStatementFor(table: TextTable) {
  const column = rowColumns[table];
  const row = sql.ref(column);
  return createDeferredStatement<{ accountId: number; rows: string }>((slot, dialect) => {
    const batch = batchOf<{ id: number; words: string }>({ id: "integer", words: "text" }, slot("rows"), dialect);
    const words: RawBuilder<unknown> = dialect.textSearch.toColumn(sql`batch.words`);
    return sql`insert into ${sql.table(table)} (account_id, ${row}, words)
      select cast(${slot("accountId")} as bigint), batch.id, ${words} from ${batch} where true
      on conflict (${sql.join(dialect.textSearch.keyOf(column).map((name) => sql.ref(name)))}) do update set words = excluded.words`;
  });
}

const statements = {
  review_words: createStatementFor("review_words"),
  question_words: createStatementFor("question_words"),
};
