import { type RawBuilder, sql } from "kysely";
import type { DialectName } from "../dialect.ts";

/**
 * Ends a `select` of rows that are to be taken: those that another transaction is taking are passed over.
 * SQLite has no such clause, and needs none: the write lock is of the whole file.
 */
export function skipLocked(dialect: DialectName): RawBuilder<unknown> {
  return dialect === "postgres" ? sql`for update skip locked` : sql``;
}
