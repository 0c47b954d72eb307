import { sql } from "kysely";
import type { Phrases, Tags, TextSearch } from "../text-search.ts";

/** `tsvector` with a GIN index. Words that wait to be added to the index slow down searches, so few may wait. */
export const postgresTextSearch: TextSearch = {
  createIndex: (name, { columns }) => {
    const [, row = ""] = Object.keys(columns);
    return [
      `create table ${name} (account_id bigint not null references accounts (id), ${row} bigint not null,
        words tsvector not null, constraint ${name}_key primary key (account_id, ${row}))`,
      `create index ${name}_text on ${name} using gin (words) with (gin_pending_list_limit = 1024)`,
    ];
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
