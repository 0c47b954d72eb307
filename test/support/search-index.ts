import { sql, type Transaction } from "kysely";
import { refreshQuestions } from "../../src/engine/questions/question-index.ts";
import { reindexReviews } from "../../src/engine/reviews/review-index.ts";
import type { Database } from "../../src/storage/database.ts";
import type { Tables } from "../../src/storage/tables.ts";

const tables = [
  ["reviews", "review_words", "review_row"],
  ["questions", "question_words", "question_row"],
] as const;

interface Indexed {
  readonly id: number;
  readonly account_id: number;
  readonly words: string | null;
}

/** Indexes all reviews and questions again, and returns those of which the index had other words or tags. */
export async function findStaleWords({ db, dialect }: Database): Promise<{ checked: number; stale: unknown[] }> {
  const stale: unknown[] = [];
  let checked = 0;
  for (const [table, words, row] of tables) {
    const read = async () =>
      (
        await sql<Indexed>`select records.id, records.account_id, cast(indexed.words as text) as words
          from ${sql.table(table)} as records left join ${sql.table(words)} as indexed
            on indexed.account_id = records.account_id and indexed.${sql.ref(row)} = records.id
          order by records.account_id, records.id`.execute(db)
      ).rows;
    const before = await read();
    const context = { transaction: db as Transaction<Tables>, dialect };
    for (const account of new Set(before.map(({ account_id }) => account_id))) {
      const ids = before.filter(({ account_id }) => account_id === account).map(({ id }) => id);
      if (table === "reviews") await reindexReviews({ ids }, account, context);
      else await refreshQuestions(ids, account, context);
    }
    for (const [at, after] of (await read()).entries()) {
      if (before[at]?.words !== after.words) stale.push({ table, before: before[at], after });
    }
    checked += before.length;
  }
  return { checked, stale };
}
