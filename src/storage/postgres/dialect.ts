import {
  type ColumnDefinitionNode,
  DataTypeNode,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  RawNode,
  sql,
} from "kysely";
import type { StorageDialect } from "../dialect.ts";
import { SchemaError } from "../storage-error.ts";
import { removeDeletedValues } from "./deleted-values.ts";
import { distributeTables, isDistributed } from "./distribution.ts";
import { explainPostgresError } from "./errors.ts";
import { readServerFacts } from "./server-facts.ts";
import { postgresTextSearch } from "./text-search.ts";

/** The key of the advisory lock that a migration holds. Any constant would do. */
const databaseLock = 7_378_697_629;

export const postgres: StorageDialect = {
  name: "postgres",
  isServer: true,
  runsInOrder: false,
  createDriver: async (url, options) => (await import("./driver.ts")).createPostgresDriver(url, options),
  explainError: explainPostgresError,

  createSchema: (db) => db.withPlugin(codePointColumns).schema,
  idColumn: { type: "bigint", build: (column) => column.primaryKey().generatedAlwaysAsIdentity() },
  keysHaveAccounts: true,
  changeKey: async ({ table, name, isPrimary, columns }, db) => {
    const kind = isPrimary ? sql`primary key` : sql`unique`;
    await sql`alter table ${sql.table(table)} drop constraint ${sql.ref(name)},
      add constraint ${sql.ref(name)} ${kind} (${sql.join(columns.map((column) => sql.ref(column)))})`.execute(db);
  },
  addAccountToId: async (table, db) => {
    const sequence = `${table}_id_seq`;
    const { rows } = await sql<{ last: number; is_called: boolean }>`
      select last_value as last, is_called from ${sql.table(sequence)}`.execute(db);
    // An identity column cannot be in a table that is distributed over several servers.
    await sql`alter table ${sql.table(table)} alter column id drop identity`.execute(db);
    await sql`create sequence ${sql.table(sequence)} as bigint`.execute(db);
    for (const { last, is_called } of rows) {
      await sql`select setval(${`"${sequence}"`}::text::regclass, ${last}, ${is_called})`.execute(db);
    }
    await sql`alter table ${sql.table(table)}
      alter column id set default nextval(${sql.lit(`"${sequence}"`)}),
      drop constraint ${sql.ref(`${table}_pkey`)},
      add constraint ${sql.ref(`${table}_pkey`)} primary key (account_id, id)`.execute(db);
  },
  ignoreAccountCounts: async (table, db) => {
    // Citus does not support this.
    if (await isDistributed(db)) return;
    // The change of the type deletes existing statistics.
    await sql`alter table ${sql.table(table)} alter column account_id set statistics 0,
      alter column account_id type bigint`.execute(db);
  },
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

  removeDeleted: removeDeletedValues,
  readFacts: readServerFacts,
  distributeNewTables: async (db) => {
    if (await isDistributed(db)) await distributeTables(db);
  },
};

/**
 * Makes columns store, compare, and sort values as SQLite does, regardless of the locale of the database: text by code
 * point, and integers with 64 bits.
 */
const codePointColumns: KyselyPlugin = {
  transformQuery: ({ node, queryId }: PluginTransformQueryArgs) => new ColumnTransformer().transformNode(node, queryId),
  transformResult: async ({ result }: PluginTransformResultArgs) => result,
};

class ColumnTransformer extends OperationNodeTransformer {
  protected override transformColumnDefinition(node: ColumnDefinitionNode, queryId: QueryId): ColumnDefinitionNode {
    const column = super.transformColumnDefinition(node, queryId);
    if (!DataTypeNode.is(column.dataType)) return column;
    if (column.dataType.dataType === "text") {
      return { ...column, dataType: RawNode.createWithSql('text collate "C"') };
    }
    if (column.dataType.dataType === "integer") return { ...column, dataType: DataTypeNode.create("bigint") };
    return column;
  }
}
