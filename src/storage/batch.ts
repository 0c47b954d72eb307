import { type AliasedRawBuilder, type RawBuilder, sql } from "kysely";
import type { DialectName } from "./dialect.ts";

/** Names the columns of a batch in order, with the SQL type of each. */
export type BatchColumns<R> = { readonly [C in keyof R & string]: "text" | "integer" };

/**
 * Gives many rows to one statement as a table `batch`: `insert … select … from batch`.
 * One parameter whatever the number of rows; each row is a list in the order of `columns`.
 */
export function batchRows<R>(
  columns: BatchColumns<R>,
  rows: readonly (readonly unknown[])[],
  dialect: DialectName,
): AliasedRawBuilder<R, "batch"> {
  return batchOf(columns, sql`${JSON.stringify(rows)}`, dialect);
}

/** `batchRows` for rows that are an expression: a list of lists, as JSON text. */
export function batchOf<R>(
  columns: BatchColumns<R>,
  rows: RawBuilder<unknown>,
  dialect: DialectName,
): AliasedRawBuilder<R, "batch"> {
  const build: Record<DialectName, () => RawBuilder<R>> = {
    // jsonb_each over lists is the fastest form that SQLite has for this.
    sqlite: () => {
      const selected = Object.keys(columns).map(
        (name, at) => sql`value->>${sql.lit(at)} as ${sql.ref(name)}`,
      );
      return sql<R>`(select ${sql.join(selected)} from jsonb_each(${rows}))`;
    },
  };
  return build[dialect]().as("batch");
}
