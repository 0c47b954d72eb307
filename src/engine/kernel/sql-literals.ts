import { type RawBuilder, sql } from "kysely";

/** An integer as a selected column, with an explicit type because `insert … select` cannot always infer it. */
export function bigintLiteral(value: number): RawBuilder<number> {
  return sql<number>`cast(${value} as bigint)`;
}

/** A string as a selected column. */
export function textLiteral(value: string): RawBuilder<string> {
  return sql<string>`cast(${value} as text)`;
}
