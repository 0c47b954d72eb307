import { formatIndexes, formatTable, type SqlTypes } from "../schema/create-table.ts";
import type { Table } from "../tables/columns.ts";
import { postgresTextSearch } from "./text-search.ts";

/**
 * Columns store, compare, and sort values as those of SQLite, regardless of the locale of the database: text by code point,
 * and integers with 64 bits.
 */
export const postgresTypes: SqlTypes = {
  text: 'text collate "C"',
  bigint: "bigint",
  integer: "bigint",
  rowId: "bigint not null",
  ownId: "bigint primary key generated always as identity",
  account: "bigint",
};

/**
 * Lists the statements that create a table.
 * @param keepsStatistics whether statistics cannot be disabled, because the database is distributed with Citus
 */
export function createPostgresTable(name: string, table: Table, keepsStatistics: boolean): readonly string[] {
  if (table.isTextIndex) return postgresTextSearch.createIndex(name, table);
  const hasRowId = table.columns["id"]?.type === "rowId";
  // Not an identity column: a table that is distributed over several servers can neither have nor lose one.
  const sequence = `${name}_id_seq`;
  const rowId = `${postgresTypes.rowId} default nextval('"${sequence}"')`;
  const key = { name: `${name}_pkey`, columns: ["account_id", "id"] };
  return [
    ...(hasRowId ? [`create sequence "${sequence}" as bigint`] : []),
    formatTable(name, table, { ...postgresTypes, rowId }, hasRowId ? key : undefined),
    // Keeps the planner from estimating the rows of an account by counts of accounts, which do not know the rows that an
    // account got since then: with an estimate of one row, it would compare all rows of the account with each other.
    ...((hasRowId || table.hasManyRows) && !keepsStatistics
      ? [`alter table "${name}" alter column account_id set statistics 0`]
      : []),
    ...formatIndexes(name, table.indexes),
    ...formatIndexes(name, table.uniqueIndexes, "unique index"),
  ];
}
