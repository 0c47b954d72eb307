import { type Kysely, sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";
import { indexTexts } from "../search-index.ts";
import type { Tables } from "../tables.ts";
import type { TextTable } from "../text-search.ts";
import { addCounter, addIndex, type Migration } from "./table-builders.ts";

/** Records that are read at once. */
const batchSize = 1_000;

interface Found {
  readonly id: number;
  readonly account_id: number;
  readonly texts: string;
}

type Last = Pick<Found, "account_id" | "id">;

/** Selects the next records, with their texts as one. */
type SelectNext = (after: Last) => ReturnType<typeof sql<Found>>;

const reviews: SelectNext = ({ account_id, id }) => sql<Found>`
  select reviews.id, reviews.account_id, reviews.title || ' ' || reviews.content || ' ' || users.display_name as texts
  from reviews join users on users.account_id = reviews.account_id and users.id = reviews.user_row
  where (reviews.account_id, reviews.id) > (${account_id}, ${id})
  order by reviews.account_id, reviews.id limit ${sql.lit(batchSize)}`;

const questions: SelectNext = ({ account_id, id }) => sql<Found>`
  select questions.id, questions.account_id, questions.content || ' ' || users.display_name || ' ' || coalesce((
      select string_agg(answers.content, ' ') from answers
      where answers.account_id = questions.account_id and answers.question_row = questions.id), '') as texts
  from questions join users on users.account_id = questions.account_id and users.id = questions.user_row
  where (questions.account_id, questions.id) > (${account_id}, ${id})
  order by questions.account_id, questions.id limit ${sql.lit(batchSize)}`;

async function indexAll(table: TextTable, selectNext: SelectNext, db: Kysely<never>, dialect: StorageDialect) {
  const target = { db: db as unknown as Kysely<Tables>, dialect };
  for (let last: Last | undefined = { account_id: 0, id: 0 }; last;) {
    const { rows }: { readonly rows: readonly Found[] } = await selectNext(last).execute(db);
    for (const accountId of new Set(rows.map(({ account_id }) => account_id))) {
      const own = rows.filter(({ account_id }) => account_id === accountId);
      const records = own.map(({ id, texts }) => ({ id, texts: [texts] }));
      await indexTexts(table, records, accountId, target);
    }
    last = rows.at(-1);
  }
}

/**
 * Indexes for filtered lists and full-text search. Lists are sorted by creation time; one with several values of a column
 * merges a sorted list per value.
 */
export const searchTables: Migration = {
  version: 19,
  name: "search and filters",
  up: async (schema, dialect, db) => {
    await dialect.textSearch.create("review_words", "review_row", db);
    await dialect.textSearch.create("question_words", "question_row", db);
    await schema.dropIndex("reviews_by_product").execute();
    await sql`create index reviews_by_product on reviews
      (account_id, product_row, created_at, id, published, score, images)`.execute(db);
    await sql`create index reviews_by_account_score on reviews
      (account_id, score, (case when comment is null then 0 else 1 end), created_at, id, published)`.execute(db);
    await sql`create index reviews_hidden on reviews (account_id, (coalesce(moderation, 'pending')), created_at, id)
      where published = 0`.execute(db);
    await sql`create index reviews_with_images on reviews (account_id, created_at, id) where images > 0`.execute(db);
    await addCounter(schema, "questions", "answered");
    await addIndex(schema, "questions_by_account", "questions", ["account_id", "created_at", "id"]);
    await addIndex(schema, "questions_by_state", "questions", ["account_id", "state", "created_at", "id"]);
    await sql`create index questions_unanswered on questions (account_id, state, created_at, id)
      where answered = 0`.execute(db);
  },
  updateRows: async (db, dialect) => {
    await sql`update questions set answered = 1 where exists (select 1 from answers
      where answers.account_id = questions.account_id and answers.question_row = questions.id
        and answers.published = 1)`.execute(db);
    await indexAll("review_words", reviews, db, dialect);
    await indexAll("question_words", questions, db, dialect);
  },
};
