import { formatIndexes, formatTable, type SqlTypes } from "../schema/create-table.ts";
import type { Table } from "../tables/columns.ts";
import { sqliteTextSearch } from "./text-search.ts";

const id = "integer primary key autoincrement";

export const sqliteTypes: SqlTypes = {
  text: "text",
  bigint: "bigint",
  integer: "integer",
  rowId: id,
  ownId: id,
  account: "bigint",
};

/** Lists the statements that create a table. */
export function createSqliteTable(name: string, table: Table): readonly string[] {
  if (table.view !== undefined) return [`create view "${name}" as ${table.view}`];
  if (table.isTextIndex) return sqliteTextSearch.createIndex(name, table);
  return [
    formatTable(name, table, sqliteTypes),
    ...formatIndexes(name, { ...table.indexes, ...table.fileIndexes }),
    ...formatIndexes(name, table.uniqueIndexes, "unique index"),
  ];
}
