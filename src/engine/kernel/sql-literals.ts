import { type RawBuilder, sql } from "kysely";

/** A whole number as a selected column; its type is said because `insert … select` cannot always tell. */
export function bigintLiteral(value: number): RawBuilder<number> {
  return sql<number>`cast(${value} as bigint)`;
}

/** A text as a selected column. */
export function textLiteral(value: string): RawBuilder<string> {
  return sql<string>`cast(${value} as text)`;
}
