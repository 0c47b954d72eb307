import type { Generated } from "kysely";
import type { RecordField, RecordFields } from "../../contract/record-fields.ts";

/**
 * The SQL type of a column. `rowId`: an ID that is never used again, even after its row is deleted; on a server, the primary
 * key is the account and the ID. `ownId`: such an ID that is a primary key on its own. `account`: the ID of an account.
 */
export type ColumnType = "text" | "bigint" | "integer" | "bytes" | "rowId" | "ownId" | "account";

/** A column. `T` is the type of its values; that of a column with a default is `Generated`. */
export interface Column<T> {
  readonly type: ColumnType;
  readonly isNullable?: boolean;
  readonly default?: string | number;
  /** Never present: carries the type. */
  readonly value?: T;
}

/** A table. Indexes are described as SQL text: columns, and the condition of a partial index. */
export interface Table {
  readonly columns: Readonly<Record<string, Column<unknown>>>;
  /** The primary key, named `<table>_key`, unless it is an ID. */
  readonly key?: readonly string[];
  /** Unique constraints. */
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  readonly indexes?: Readonly<Record<string, string>>;
  readonly uniqueIndexes?: Readonly<Record<string, string>>;
  /** Indexes of a file. On a server, the primary key begins with these columns. */
  readonly fileIndexes?: Readonly<Record<string, string>>;
  /** Whether accounts have many rows, although rows have no ID. */
  readonly hasManyRows?: boolean;
  /** Whether its texts are longer than those that a server keeps in rows by default, and read with them. */
  readonly hasLongTexts?: boolean;
  /** Whether it is an index for full-text search: see `TextSearch`. */
  readonly isTextIndex?: boolean;
  /** The query of a view that is the table in a file, where IDs are primary keys. */
  readonly view?: string;
}

export const text: Column<string> = { type: "text" };
export const bigint: Column<number> = { type: "bigint" };
export const integer: Column<number> = { type: "integer" };
export const bytes: Column<Uint8Array> = { type: "bytes" };
export const rowId: Column<Generated<number>> = { type: "rowId" };
export const ownId: Column<Generated<number>> = { type: "ownId" };
export const account: Column<number> = { type: "account" };

export function optional<T>(column: Column<T>): Column<T | null> {
  return { ...column, isNullable: true };
}

export function withDefault<T extends string | number>(column: Column<T>, value: T): Column<Generated<T>> {
  return { type: column.type, default: value };
}

type ColumnOf<F extends RecordField> = F["type"] extends "date"
  ? Column<number>
  : F["type"] extends "boolean"
    ? Column<Generated<number>>
    : F extends { readonly isRequired: true }
      ? Column<string>
      : Column<string | null>;

/** The columns of the fields of a record. A date, which is always known, is the time at which it begins. */
export function columnsOf<F extends RecordFields>(fields: F): { readonly [N in keyof F]: ColumnOf<F[N]> } {
  const columns = Object.entries(fields).map(([name, { type, isRequired }]) => {
    if (type === "date") return [name, bigint];
    if (type === "boolean") return [name, withDefault(integer, 0)];
    return [name, isRequired === true ? text : optional(text)];
  });
  return Object.fromEntries(columns) as { readonly [N in keyof F]: ColumnOf<F[N]> };
}

export function defineTables<T extends Readonly<Record<string, Table>>>(tables: T): T {
  return tables;
}

/** The rows of tables, as Kysely describes them. */
export type RowsOf<T extends Readonly<Record<string, Table>>> = {
  [N in keyof T]: {
    -readonly [C in keyof T[N]["columns"]]: T[N]["columns"][C] extends Column<infer V> ? V : never;
  };
};
