import type { Column, ColumnType, Table } from "../tables/columns.ts";

/** The SQL types of a dialect. Those of IDs include their constraints. */
export type SqlTypes = Readonly<Record<ColumnType, string>>;

/** The definition of a column, as in `create table` and `alter table … add column`. */
export function formatColumn(name: string, column: Column<unknown>, types: SqlTypes): string {
  const { type, isNullable = false, default: value } = column;
  const given = value === undefined ? "" : ` default ${typeof value === "string" ? `'${value}'` : value}`;
  const isKey = type === "rowId" || type === "ownId";
  const target = type === "account" ? ` references "accounts" ("id")` : "";
  return `"${name}" ${types[type]}${given}${isNullable || isKey ? "" : " not null"}${target}`;
}

/** The statement that creates a table, without its indexes. */
export function formatTable(
  name: string,
  { columns, key, unique = {} }: Table,
  types: SqlTypes,
  primaryKey = key && { name: `${name}_key`, columns: key },
): string {
  const list = (names: readonly string[]) => names.map((column) => `"${column}"`).join(", ");
  const parts = Object.entries(columns).map(([column, definition]) => formatColumn(column, definition, types));
  if (primaryKey) parts.push(`constraint "${primaryKey.name}" primary key (${list(primaryKey.columns)})`);
  for (const [constraint, names] of Object.entries(unique)) {
    parts.push(`constraint "${constraint}" unique (${list(names)})`);
  }
  return `create table "${name}" (${parts.join(", ")})`;
}

/** The statements that create indexes of a table. */
export function formatIndexes(table: string, indexes: Readonly<Record<string, string>> = {}, kind = "index"): string[] {
  return Object.entries(indexes).map(([name, columns]) => `create ${kind} "${name}" on "${table}" ${columns}`);
}
