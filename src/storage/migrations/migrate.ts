import { type Kysely, type SchemaModule, sql } from "kysely";
import type { DialectName } from "../dialect.ts";
import { migrations } from "./migrations.ts";
import { sqliteLikeColumns } from "../postgres/columns.ts";

const versionTable = "starpost_migrations";

/** The schema that this version uses. */
export const newestSchema = migrations.at(-1)?.version ?? 0;

/** A schema that this version does not know how to use. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/**
 * Brings the schema up to date in one transaction, or changes nothing. Processes that do so at once wait for each
 * other, since the transaction writes.
 * @throws SchemaError when a newer version made it, or something else did
 */
export async function migrate(db: Kysely<never>, dialect: DialectName, nowMs: number): Promise<void> {
  if ((await readSchemaVersion(db, dialect)) === newestSchema) return;
  await db.transaction().execute(async (transaction) => {
    const names = await readTableNames(transaction, dialect);
    if (!names.includes(versionTable)) {
      if (names.length > 0) throw new SchemaError("it holds other tables: it is not a starpost database");
      if (dialect === "postgres") await requireUnicode(transaction);
      await transaction.schema
        .createTable(versionTable)
        .addColumn("version", "integer", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("applied_at", "bigint", (column) => column.notNull())
        .execute();
    }
    const current = (await readSchemaVersion(transaction, dialect)) ?? 0;
    if (current > newestSchema) {
      throw new SchemaError(
        `it was made by a newer starpost (schema ${current}; this one knows ${newestSchema}): update starpost`,
      );
    }
    for (const migration of migrations.filter(({ version }) => version > current)) {
      await migration.up(schemaOf(transaction, dialect), dialect);
      await migration.takeOver?.(transaction);
      await sql`insert into ${sql.table(versionTable)} (version, name, applied_at)
        values (${migration.version}, ${migration.name}, ${nowMs})`.execute(transaction);
    }
  });
}

async function requireUnicode(db: Kysely<never>): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`
    select current_setting('server_encoding') as encoding`.execute(db);
  const encoding = rows[0]?.encoding;
  if (encoding !== "UTF8") throw new SchemaError(`its encoding is ${encoding}, and UTF8 is needed`);
}

function schemaOf(db: Kysely<never>, dialect: DialectName): SchemaModule {
  return dialect === "postgres" ? db.withPlugin(sqliteLikeColumns).schema : db.schema;
}

/** The schema's number; nothing where the database is empty or not ours. */
export async function readSchemaVersion(
  db: Kysely<never>,
  dialect: DialectName,
): Promise<number | undefined> {
  const names = await readTableNames(db, dialect);
  if (!names.includes(versionTable)) return undefined;
  const { rows } = await sql<{ version: number | null }>`
    select max(version) as version from ${sql.table(versionTable)}`.execute(db);
  return rows[0]?.version ?? 0;
}

export async function readTableNames(db: Kysely<never>, dialect: DialectName): Promise<string[]> {
  const query: Record<DialectName, () => ReturnType<typeof sql<{ name: string }>>> = {
    sqlite: () =>
      sql`select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'`,
    // Of the schema that new tables go to; an extension's are nobody's.
    postgres: () => sql`
      select relname as name from pg_catalog.pg_class
      where relnamespace = to_regnamespace(quote_ident(current_schema())) and relkind in ('r', 'p', 'v')
        and not exists (select from pg_catalog.pg_depend
          where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')`,
  };
  const { rows } = await query[dialect]().execute(db);
  return rows.map(({ name }) => name);
}
