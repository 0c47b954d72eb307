import { type Kysely, sql } from "kysely";
import type { Tables } from "../tables.ts";

/** How long to wait for the lock of an empty table, so that other processes do not wait longer. */
const lockTimeoutMs = 2_000;

/**
 * Makes the space of deleted rows reusable, and replaces the planner's statistics, which contain values of rows. Pages and
 * the log of the server keep the bytes until they are overwritten.
 */
export async function removeDeletedValues(tables: readonly (keyof Tables)[], db: Kysely<Tables>): Promise<boolean> {
  await sql`vacuum (analyze) ${sql.join(tables.map((name) => sql.table(name)))}`.execute(db);
  for (const table of tables) await removeStatistics(table, db);
  return true;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly collation: string | null;
}

/** `analyze` does not replace the statistics of an empty table; setting the type of a column to what it is removes them. */
async function removeStatistics(table: keyof Tables, db: Kysely<Tables>): Promise<void> {
  const isEmpty = async (on: Kysely<Tables>) => {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(on);
    return rows.length === 0;
  };
  if (!(await isEmpty(db))) return;
  const { rows: columns } = await sql<Column>`
    select column_name as name, data_type as type, quote_ident(collation_schema) || '.' || quote_ident(collation_name)
      as collation
    from information_schema.columns join pg_stats on schemaname = table_schema and tablename = table_name
      and attname = column_name
    where table_schema = current_schema() and table_name = ${table} and data_type in ('text', 'tsvector')`.execute(db);
  if (columns.length === 0) return;
  await db.transaction().execute(async (transaction) => {
    await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(transaction);
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(transaction);
    if (!(await isEmpty(transaction))) return;
    for (const { name, type, collation } of columns) {
      await sql`alter table ${sql.table(table)} alter column ${sql.ref(name)}
        type ${sql.raw(collation === null ? type : `${type} collate ${collation}`)}`.execute(transaction);
    }
  });
}
