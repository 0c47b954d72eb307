import { type Kysely, type RawBuilder, sql } from "kysely";
import type { TextTable } from "../text-search.ts";
import type { Migration } from "./table-builders.ts";

interface Tagged {
  readonly table: "reviews" | "questions";
  readonly words: TextTable;
  readonly row: string;
  /** The tags of fields, without the account. */
  readonly tags: readonly RawBuilder<unknown>[];
}

const positions = [
  sql`'a' || (records.id >> 9)`,
  sql`'b' || (records.id >> 14)`,
  sql`'c' || (records.id >> 19)`,
  sql`'d' || (records.created_at / 86400000)`,
  sql`'e' || ((records.created_at / 86400000) >> 8)`,
];

const tagged: readonly Tagged[] = [
  {
    table: "reviews",
    words: "review_words",
    row: "review_row",
    tags: [
      ...positions,
      sql`'p' || coalesce(cast(records.product_row as text), '')`,
      sql`'s' || records.score`,
      sql`case when records.images > 0 then 'i' end`,
      sql`case when records.comment is null then 'u' end`,
      sql`case when records.published = 1 then null when records.moderation in ('held', 'unpublished')
        then 't' || records.moderation else 't' || 'pending' end`,
    ],
  },
  {
    table: "questions",
    words: "question_words",
    row: "question_row",
    tags: [...positions, sql`'t' || records.state`, sql`case when records.answered = 0 then 'u' end`],
  },
];

async function addTags({ table, words, row, tags }: Tagged, db: Kysely<never>): Promise<void> {
  const prefix = sql`records.account_id || '-'`;
  const indexed = sql.join(tags.map((tag) => sql`${prefix} || ${tag}`));
  const index = sql.ref(`${words}_text`);
  const copy = sql.table(`tagged_${words}`);
  // An update would leave the old rows in the table, and creating the index would add them to it.
  const statements = [
    sql`create temporary table ${copy} on commit drop as
      select indexed.account_id, indexed.${sql.ref(row)},
        indexed.words || cast(concat_ws(' ', ${indexed}) as tsvector) as words
      from ${sql.table(words)} as indexed join ${sql.table(table)} as records
        on records.account_id = indexed.account_id and records.id = indexed.${sql.ref(row)}`,
    sql`drop index ${index}`,
    sql`truncate ${sql.table(words)}`,
    sql`insert into ${sql.table(words)} select * from ${copy} order by account_id, ${sql.ref(row)}`,
    sql`create index ${index} on ${sql.table(words)} using gin (words) with (gin_pending_list_limit = 1024)`,
  ];
  for (const statement of statements) await statement.execute(db);
}

/** Adds tags of IDs, times, and filters to the words of records, if the database searches for them together. */
export const searchTags: Migration = {
  version: 23,
  name: "tags for searches with filters",
  up: async () => {},
  updateRows: async (db, dialect) => {
    if (!dialect.textSearch.hasTags) return;
    for (const one of tagged) await addTags(one, db);
  },
};
