import { type Kysely, sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";
import type { Tables } from "../tables.ts";
import type { Column } from "../tables/columns.ts";
import { formatColumn } from "./create-table.ts";

/** What a migration changes, in a transaction that locks the database. */
export interface MigratedDatabase {
  readonly db: Kysely<never>;
  readonly dialect: StorageDialect;
}

/** A numbered change of the schema, the same for all dialects. Released migrations never change. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Changes a database with the schema of the migration before. New databases get the tables of `tables.ts` at once. */
  readonly up: (database: MigratedDatabase) => Promise<void>;
}

/** Adds a column, as `tables.ts` describes it. */
export async function addColumn<T extends keyof Tables>(
  table: T,
  column: keyof Tables[T] & string,
  { db, dialect }: MigratedDatabase,
): Promise<void> {
  const { tables } = await import("../tables.ts");
  const columns: Readonly<Record<string, Column<unknown>>> = tables[table].columns;
  const added = columns[column];
  if (!added) throw new Error(`the table ${table} has no column ${column}`);
  await sql.raw(`alter table "${table}" add column ${formatColumn(column, added, dialect.sqlTypes)}`).execute(db);
}

/** The first one describes the oldest schema that can be used: it is not run. */
export const migrations: readonly [Migration, ...Migration[]] = [
  { version: 23, name: "all tables", up: async () => {} },
  {
    version: 24,
    name: "rating targets, and products dropped from emails",
    up: async ({ db }) => {
      for (const table of ["reviews", "review_totals", "bottom_line_changes"]) {
        await sql`alter table ${sql.table(table)} rename column shelf to rating_target`.execute(db);
      }
      await sql`update mails set data = replace(data, '"left_out":', '"dropped":')
        where order_row is not null and data like '{"left_out":%'`.execute(db);
    },
  },
  {
    version: 25,
    name: "one table of limits",
    up: async ({ db }) => {
      await sql`drop table rate_windows`.execute(db);
      await sql`alter table token_buckets rename column full_at to level`.execute(db);
    },
  },
];
