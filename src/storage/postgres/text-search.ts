import { sql } from "kysely";
import type { Phrases, Tags, TextSearch } from "../text-search.ts";

/** `tsvector` with a GIN index. Words that wait to be added to the index slow down searches, so few may wait. */
export const postgresTextSearch: TextSearch = {
  create: async (table, row, db) => {
    const statements = [
      `create table ${table} (account_id bigint not null references accounts (id), ${row} bigint not null,
        words tsvector not null, constraint ${table}_key primary key (account_id, ${row}))`,
      `create index ${table}_text on ${table} using gin (words) with (gin_pending_list_limit = 1024)`,
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
  keyOf: (row) => ["account_id", row],
  hasTags: true,
  formatWords: (words, tags) => [...words.map((word, at) => `${word}:${at + 1}`), ...tags].join(" "),
  toColumn: (words) => sql`cast(${words} as tsvector)`,
  contains: (words, phrases, tags = []) => sql`${words} @@ cast(${formatQuery(phrases, tags)} as tsquery)`,
};

function formatQuery(phrases: Phrases, tags: Tags): string {
  const parts = [...phrases.map((words) => words.join(" <-> ")), ...tags.map((choices) => choices.join(" | "))];
  return parts.map((part) => `(${part})`).join(" & ");
}
