import {
  type ColumnDefinitionNode,
  DataTypeNode,
  type Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  RawNode,
  sql,
} from "kysely";
import type { DialectFacts, StorageDialect } from "../dialect.ts";
import { SchemaError } from "../storage-error.ts";
import type { Tables } from "../tables.ts";
import { explainPostgresError } from "./errors.ts";
import { writeLock } from "./write-lock.ts";

export const postgres: StorageDialect = {
  name: "postgres",
  isServer: true,
  runsInOrder: false,
  createDriver: async (url, options) => (await import("./driver.ts")).createPostgresDriver(url, options),
  explainError: explainPostgresError,

  createSchema: (db) => db.withPlugin(codePointColumns).schema,
  idColumn: { type: "bigint", build: (column) => column.primaryKey().generatedAlwaysAsIdentity() },
  checkEmptyDatabase: async (db) => {
    const { rows } = await sql<{ encoding: string }>`
      select current_setting('server_encoding') as encoding`.execute(db);
    const encoding = rows[0]?.encoding;
    if (encoding !== "UTF8") throw new SchemaError(`the encoding is ${encoding}, but must be UTF8`);
  },
  // Only of the schema in which new tables are created, without the tables of extensions.
  readTableNames: async (db) => {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_catalog.pg_class
      where relnamespace = to_regnamespace(quote_ident(current_schema())) and relkind in ('r', 'p', 'v')
        and not exists (select from pg_catalog.pg_depend
          where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')`.execute(db);
    return rows.map(({ name }) => name);
  },

  runAll: async (steps) => {
    await Promise.all(steps.map((step) => step()));
  },
  selectBatch: (columns, rows) => {
    const selected = Object.entries(columns).map(
      ([name, type], index) =>
        sql`(value->>${sql.lit(index)})::${type === "text" ? sql`text` : sql`bigint`} as ${sql.ref(name)}`,
    );
    return sql`(select ${sql.join([...selected, sql`position`])}
      from jsonb_array_elements(cast(${rows} as jsonb)) with ordinality as listed (value, position))`;
  },
  inBatchOrder: sql`order by batch.position`,
  // With `in`, PostgreSQL would read the complete table.
  isAmongFirst: (table, condition, limit) =>
    sql`ctid = any(array(select ctid from ${sql.table(table)} where ${condition} limit ${sql.lit(limit)}))`,
  skipLocked: sql`for update skip locked`,

  // PostgreSQL does not provide one.
  readDataVersion: async () => Number.NaN,
  readFacts: readServerFacts,
};

async function readServerFacts(db: Kysely<Tables>, _location: string, clock: () => number): Promise<DialectFacts> {
  const query = sql<{ version: string; bytes: number; now_ms: number }>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
      (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`;
  // The first query opens a connection, which would distort the time measurement.
  await query.execute(db);
  const beforeMs = clock();
  const { version = "", bytes = 0, now_ms: serverMs = 0 } = (await query.execute(db)).rows[0] ?? {};
  const clockAheadMs = serverMs - (beforeMs + clock()) / 2;
  return {
    version: `PostgreSQL ${version}`,
    bytes,
    hasWriteAheadLog: null,
    clockAheadMs,
    writer: await findWriter(db),
  };
}

async function findWriter(db: Kysely<Tables>): Promise<DialectFacts["writer"]> {
  const [high, low] = [Math.floor(writeLock / 2 ** 32), writeLock % 2 ** 32];
  const { rows } = await sql<{ name: string; for_ms: number }>`
    select coalesce(nullif(application_name, ''), 'a program') || ' (server process ' || pg_locks.pid ||
        coalesce(', from ' || host(client_addr), '') || ')' as name,
      (extract(epoch from clock_timestamp() - coalesce(xact_start, clock_timestamp())) * 1000)::bigint as for_ms
    from pg_catalog.pg_locks join pg_catalog.pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and classid = ${high} and objid = ${low}
      and pg_locks.database = (select oid from pg_catalog.pg_database where datname = current_database())`.execute(db);
  const [held] = rows;
  return held ? { name: held.name, forMs: held.for_ms } : null;
}

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
