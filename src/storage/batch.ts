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
  return batchOf(columns, sql`${JSON.stringify(rows)}`, dialect);
}

/** Like `batchRows`, but `rows` is an SQL expression: a list of lists as JSON text. */
export function batchOf<R>(
  columns: BatchColumns<R>,
  rows: RawBuilder<unknown>,
  dialect: StorageDialect,
): AliasedRawBuilder<R, "batch"> {
  return dialect.selectBatch(columns, rows).as("batch");
}
