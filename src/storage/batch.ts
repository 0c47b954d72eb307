import { type AliasedRawBuilder, type RawBuilder, sql } from "kysely";
import type { BatchColumns, StorageDialect } from "./dialect.ts";

export type { BatchColumns } from "./dialect.ts";

/**
 * Passes many rows to one statement as a table named `batch`: `insert … select … from batch`. Uses one parameter for
 * any number of rows.
 * @param rows lists of values in the order of `columns`
 */
export function batchRows<R>(
  columns: BatchColumns<R>,
  rows: readonly (readonly unknown[])[],
  dialect: StorageDialect,
): AliasedRawBuilder<R, "batch"> {
  return dialect.selectBatch(columns, sql`${JSON.stringify(rows)}`).as("batch");
}

/** Passes row IDs to one statement, whatever their number, as a table named `batch`. */
export function batchOfIds(
  ids: readonly number[],
  dialect: StorageDialect,
): AliasedRawBuilder<{ id: number }, "batch"> {
  return batchRows<{ id: number }>(
    { id: "integer" },
    ids.map((id) => [id]),
    dialect,
  );
}

/** The condition that the ID of a row is among those of a list of lists as JSON text. */
export function isAmong(ids: RawBuilder<unknown>, dialect: StorageDialect): RawBuilder<boolean> {
  return sql`id in (select batch.id from ${batchOf<{ id: number }>({ id: "integer" }, ids, dialect)})`;
}

/** Like `batchRows`, but `rows` is an SQL expression: a list of lists as JSON text. */
export function batchOf<R>(
  columns: BatchColumns<R>,
  rows: RawBuilder<unknown>,
  dialect: StorageDialect,
): AliasedRawBuilder<R, "batch"> {
  return dialect.selectBatch(columns, rows).as("batch");
}

/**
 * The value of a column of the table that `update … from batch` changes, where the column is the same in all rows.
 * Without the second argument of `coalesce`, SQLite would read all rows with that value, and then search the batch for
 * each of them. PostgreSQL removes it before it plans the statement.
 * @param column a column of the batch
 */
export function constantInBatch(value: RawBuilder<unknown>, column: string): RawBuilder<unknown> {
  return sql`coalesce(${value}, ${sql.ref(`batch.${column}`)})`;
}
