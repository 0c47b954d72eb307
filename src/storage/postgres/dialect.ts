import { sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";
import { SchemaError } from "../storage-error.ts";
import { createPostgresTable, postgresTypes } from "./create-table.ts";
import { removeDeletedValues } from "./deleted-values.ts";
import { distributeTables, isDistributed } from "./distribution.ts";
import { explainPostgresError } from "./errors.ts";
import { readServerFacts } from "./server-facts.ts";
import { DatabaseTokenStore } from "./token-store.ts";
import { postgresTextSearch } from "./text-search.ts";

/** The key of the advisory lock that a migration holds. Any constant would do. */
const databaseLock = 7_378_697_629;

export const postgres: StorageDialect = {
  name: "postgres",
  isServer: true,
  runsInOrder: false,
  createDriver: async (url, options) => (await import("./driver.ts")).createPostgresDriver(url, options),
  explainError: explainPostgresError,

  sqlTypes: postgresTypes,
  createTables: async (tables, db) => {
    const keepsStatistics = await isDistributed(db);
    const statements = Object.entries(tables).flatMap(([name, table]) =>
      createPostgresTable(name, table, keepsStatistics),
    );
    await postgres.runAll(statements.map((statement) => () => sql.raw(statement).execute(db)));
  },
  keysHaveAccounts: true,
  lockDatabase: async (db) => {
    // Citus requires the setting if a transaction changes distributed and reference tables. PostgreSQL ignores it.
    await sql`select pg_advisory_xact_lock(${sql.lit(databaseLock)}),
      set_config('citus.multi_shard_modify_mode', 'sequential', true)`.execute(db);
  },
  checkEmptyDatabase: async (db) => {
    const { rows } = await sql<{ encoding: string }>`
      select current_setting('server_encoding') as encoding`.execute(db);
    const encoding = rows[0]?.encoding;
    if (encoding !== "UTF8") throw new SchemaError(`the encoding is ${encoding}, but must be UTF8`);
  },
  // Only of the schema in which new tables are created, without partitions and the tables of extensions.
  readTableNames: async (db) => {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_catalog.pg_class
      where relnamespace = to_regnamespace(quote_ident(current_schema())) and relkind in ('r', 'p', 'v') and not relispartition
        and not exists (select from pg_catalog.pg_depend
          where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')`.execute(db);
    return rows.map(({ name }) => name);
  },

  runAll: async (steps) => {
    const outcomes = await Promise.allSettled(steps.map((step) => step()));
    // Only now, because none of them may execute a statement after the transaction.
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  },
  // Without the condition, which is always true, the planner would expect 100 rows, and read all rows of an account rather
  // than look up a few. With it, the planner expects one row, whether it knows the values or not.
  selectBatch: (columns, rows) => {
    const selected = Object.entries(columns).map(
      ([name, type], index) =>
        sql`(value->>${sql.lit(index)})::${type === "text" ? sql`text` : sql`bigint`} as ${sql.ref(name)}`,
    );
    return sql`(select ${sql.join([...selected, sql`position`])}
      from jsonb_array_elements(cast(${rows} as jsonb)) with ordinality as listed (value, position)
      where position = abs(position))`;
  },
  inBatchOrder: sql`order by batch.position`,
  // With `in`, PostgreSQL would read the complete table.
  isAmongFirst: (table, condition, limit) =>
    sql`${condition} and ctid = any(array(select ctid from ${sql.table(table)} where ${condition} limit ${sql.lit(limit)}))`,

  // The planner knows how many rows have a value.
  withoutIndex: (column) => column,
  testRows: (condition) => sql`(select 1 where ${condition}) is not null`,
  textSearch: postgresTextSearch,
  createTokenStore: (db, clock) => new DatabaseTokenStore(db, postgres, clock),

  removeDeleted: removeDeletedValues,
  readFacts: readServerFacts,
  distributeNewTables: async (db) => {
    if (await isDistributed(db)) await distributeTables(db);
  },
};
