import { isPlainDefinition, normalizeSql } from "../schema/sql-tokens.ts";
import { tables } from "../tables.ts";
import { createSqliteTable } from "./dialect.ts";
import { SqliteFile } from "./sqlite-file.ts";

const name = String.raw`(?:\w+|"[^"]+"|'[^']+')`;
const plainPatterns = [
  new RegExp(`^create table ${name} (?<definition>\\(.*\\))(?: without rowid)?$`, "s"),
  new RegExp(`^create(?: unique)? index ${name} on ${name} (?<definition>\\(.*)$`, "s"),
];

/** Earlier versions have created the same objects with other spaces and quotes. */
const normalizeForm = (statement: string) =>
  statement
    .toLowerCase()
    .replaceAll(/"(\w+)"/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();

/**
 * Lists what a database file contains that starpost does not create, and that runs code when tables are used: views, triggers,
 * virtual tables, and functions in the definitions of tables and indexes. Other tables and indexes are harmless.
 * Views, triggers, and virtual tables have been the same since the oldest schema.
 */
export function findForeignObjects(path: string): readonly string[] {
  const own = new Set(
    Object.entries(tables).flatMap(([table, definition]) => createSqliteTable(table, definition).map(normalizeForm)),
  );
  const isOwn = (statement: string) => {
    if (own.has(normalizeForm(statement))) return true;
    const normalized = normalizeSql(statement) ?? "";
    const definition = plainPatterns.map((pattern) => pattern.exec(normalized)?.groups?.["definition"]).find(Boolean);
    return definition !== undefined && isPlainDefinition(definition);
  };
  const objects = readFile(path, (file) => file.all("select type, name, sql from sqlite_schema where sql is not null"));
  return objects
    .filter(({ sql }) => !isOwn(String(sql)))
    .map((object) => `${String(object["type"])} ${String(object["name"])}`);
}

/** @returns the first table or column that a database file of the newest schema does not have */
export function findMissing(path: string): string | undefined {
  const select = (table: string, columns: object) => {
    const own = JSON.stringify(table);
    const listed = Object.keys(columns).map((column) => `${own}.${JSON.stringify(column)}`);
    return `select ${listed.join(", ")} from ${own} limit 0`;
  };
  try {
    readFile(path, (file) => {
      for (const [table, { columns }] of Object.entries(tables)) file.all(select(table, columns));
    });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function readFile<T>(path: string, read: (file: SqliteFile) => T): T {
  const file = new SqliteFile(path, { isReadOnly: true, busyTimeoutMs: 0 });
  try {
    return read(file);
  } finally {
    file.close();
  }
}
