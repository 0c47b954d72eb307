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
    postgres: () => {
      const selected = Object.entries(columns).map(
        ([name, type], at) =>
          sql`(value->>${sql.lit(at)})::${type === "text" ? sql`text` : sql`bigint`} as ${sql.ref(name)}`,
      );
      return sql<R>`(select ${sql.join([...selected, sql`position`])}
        from jsonb_array_elements(cast(${rows} as jsonb)) with ordinality as listed (value, position))`;
    },
  };
  return build[dialect]().as("batch");
}

/**
 * Ends an `insert … select … from batch` that joins other tables, so that the new ids come in the order of the batch.
 * SQLite walks a batch that stands first in its order by itself.
 */
export function inBatchOrder(dialect: DialectName): RawBuilder<unknown> {
  return dialect === "postgres" ? sql`order by batch.position` : sql``;
}
