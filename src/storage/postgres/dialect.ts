import { type Kysely, sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";
import { SchemaError } from "../storage-error.ts";
import { distributeTables, findLostNodes, isDistributed, readReachable } from "./distribution.ts";
import { explainPostgresError } from "./errors.ts";
import { openServerClock } from "./server-clock.ts";
import { readServerFacts } from "./server-facts.ts";
import { DatabaseTokenStore } from "./token-store.ts";
import { formatIndexes, formatTable, type SqlTypes } from "../schema/create-table.ts";
import type { Table } from "../tables/columns.ts";
import type { Phrases, Tags, TextSearch } from "../text-search.ts";
import type { Tables } from "../tables.ts";

/** The key of the advisory lock that a migration holds. Any constant would do. */
const databaseLock = 7_378_697_629;

/**
 * Columns store, compare, and sort values as those of SQLite, regardless of the locale of the database: text by code point,
 * and integers with 64 bits.
 */
const postgresTypes: SqlTypes = {
  text: 'text collate "C"',
  bigint: "bigint",
  integer: "bigint",
  bytes: "bytea",
  rowId: "bigint not null",
  ownId: "bigint primary key generated always as identity",
  account: "bigint",
};

/**
 * Lists the statements that create a table.
 * @param keepsStatistics whether statistics cannot be disabled, because the database is distributed with Citus
 */
function createPostgresTable(name: string, table: Table, keepsStatistics: boolean): readonly string[] {
  if (table.isTextIndex) return postgresTextSearch.createIndex(name, table);
  const hasRowId = table.columns["id"]?.type === "rowId";
  // Not an identity column: a table that is distributed over several servers can neither have nor lose one.
  const sequence = `${name}_id_seq`;
  const rowId = `${postgresTypes.rowId} default nextval('"${sequence}"')`;
  const key = { name: `${name}_pkey`, columns: ["account_id", "id"] };
  return [
    ...(hasRowId ? [`create sequence "${sequence}" as bigint`] : []),
    formatTable(name, table, { ...postgresTypes, rowId }, hasRowId ? key : undefined),
    // Keeps the planner from estimating the rows of an account by counts of accounts, which do not know the rows that an
    // account got since then: with an estimate of one row, it would compare all rows of the account with each other.
    ...((hasRowId || table.hasManyRows) && !keepsStatistics
      ? [`alter table "${name}" alter column account_id set statistics 0`]
      : []),
    ...(table.hasLongTexts ? [`alter table "${name}" set (toast_tuple_target = 8160)`] : []),
    ...formatIndexes(name, table.indexes),
    ...formatIndexes(name, table.uniqueIndexes, "unique index"),
  ];
}

/** `tsvector` with a GIN index. Words that wait to be added to the index slow down searches, so few may wait. */
const postgresTextSearch: TextSearch = {
  createIndex: (name, { columns }) => {
    const [, row = ""] = Object.keys(columns);
    return [
      `create table ${name} (account_id bigint not null references accounts (id), ${row} bigint not null,
        words tsvector not null, constraint ${name}_key primary key (account_id, ${row}))`,
      `create index ${name}_text on ${name} using gin (words) with (gin_pending_list_limit = 1024)`,
    ];
  },
  keyOf: (row) => ["account_id", row],
  hasTags: true,
  formatWords: (words, tags) => [...words.map((word, at) => `${word}:${at + 1}`), ...tags].join(" "),
  toColumn: (words) => sql`cast(${words} as tsvector)`,
  contains: (words, phrases, tags = []) => sql`${words} @@ cast(${formatQuery(phrases, tags)} as tsquery)`,
};

function formatQuery(phrases: Phrases, tags: Tags): string {
  const parts = [...phrases.map((words) => words.join(" <-> ")), ...tags.map((choices) => choices.join(" | "))];
  return parts.map((part) => `(${part})`).join(" & ");
}

/** How long to wait for the lock of an empty table, so that other processes do not wait longer. */
const lockTimeoutMs = 2_000;

/**
 * Makes the space of deleted rows reusable, and replaces the planner's statistics, which contain values of rows. Pages and
 * the log of the server keep the bytes until they are overwritten.
 */
async function removeDeletedValues(tables: readonly (keyof Tables)[], db: Kysely<Tables>): Promise<boolean> {
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
    where table_schema = current_schema() and table_name = ${table} and data_type in ('text', 'tsvector', 'bytea')`.execute(
    db,
  );
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

export const postgres: StorageDialect = {
  name: "postgres",
  runsInOrder: false,
  isPipelined: true,
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

  runAll: async <T extends readonly unknown[]>(steps: { readonly [At in keyof T]: () => Promise<T[At]> }) => {
    const outcomes = await Promise.allSettled(steps.map((step) => step()));
    // Only now, because none of them may execute a statement after the transaction.
    const results = outcomes.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    });
    return results as unknown as T;
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
  isNotPlain: (text) => sql`(${text} collate "C" ~ '[^!-~]')`,
  testRows: (condition) => sql`(select 1 where ${condition}) is not null`,
  optimizationFence: sql`offset 0`,
  textSearch: postgresTextSearch,
  createTokenStore: (db, clock) => new DatabaseTokenStore(db, postgres, clock),

  removeDeleted: removeDeletedValues,
  openClock: openServerClock,
  readFacts: readServerFacts,
  findLostNodes: async (db) => ((await isDistributed(db)) ? findLostNodes(db) : []),
  readReachable,
  distributeNewTables: async (db) => {
    if (await isDistributed(db)) await distributeTables(db);
  },
};
