import { sql } from "kysely";
import type { TextSearch } from "../text-search.ts";

/**
 * FTS5, with the words in a table of their own and triggers that update the index. Deleted words do not stay in the index
 * (`secure-delete`).
 */
export const sqliteTextSearch: TextSearch = {
  createIndex: (name, { columns }) => {
    const [, row = ""] = Object.keys(columns);
    const index = `${name}_text`;
    const add = (version: string) =>
      `insert into ${index} (rowid, words) values (${version}.${row}, ${version}.words);`;
    const remove = `insert into ${index} (${index}, rowid, words) values ('delete', old.${row}, old.words);`;
    return [
      `create table ${name} (account_id bigint not null references accounts (id), ${row} integer primary key,
        words text not null)`,
      `create index ${name}_of_account on ${name} (account_id)`,
      `create virtual table ${index} using fts5 (words, content = '${name}', content_rowid = '${row}',
        tokenize = "ascii tokenchars '_'", columnsize = 0)`,
      `insert into ${index} (${index}, rank) values ('secure-delete', 1)`,
      `create trigger ${name}_added after insert on ${name} begin ${add("new")} end`,
      `create trigger ${name}_removed after delete on ${name} begin ${remove} end`,
      `create trigger ${name}_changed after update on ${name} begin ${remove} ${add("new")} end`,
    ];
  },
  keyOf: (row) => [row],
  hasTags: false,
  formatWords: (words) => words.join(" "),
  toColumn: (words) => words,
  contains: (words, phrases) => {
    const padded = sql`' ' || ${words} || ' '`;
    return sql`${sql.join(
      phrases.map((phrase) => sql`instr(${padded}, ${` ${phrase.join(" ")} `}) > 0`),
      sql` and `,
    )}`;
  },
  match: (table, _row, { phrases }) => {
    const index = sql.table(`${table}_text`);
    const query = phrases.map((words) => `"${words.join(" ")}"`).join(" AND ");
    return { table: index, id: sql`${index}.rowid`, condition: sql`${index} match ${query}` };
  },
};
