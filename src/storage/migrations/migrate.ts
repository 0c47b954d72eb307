import { type Kysely, sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";
import { defer } from "../query-marks.ts";
import { SchemaError } from "../storage-error.ts";
import { migrations } from "./migrations.ts";
import type { Migration } from "./table-builders.ts";

const versionTable = "starpost_migrations";

export const newestSchema = migrations.at(-1)?.version ?? 0;

/**
 * Migrates the schema in one transaction, or changes nothing. Processes that migrate at the same time wait for each
 * other, because each locks the database.
 * @throws SchemaError if a newer version or another program created the tables
 */
export async function migrate(db: Kysely<never>, dialect: StorageDialect, nowMs: number): Promise<void> {
  if ((await readSchemaVersion(db, dialect)) === newestSchema) return;
  await db.transaction().execute(async (transaction) => {
    await dialect.lockDatabase(transaction);
    const names = await dialect.readTableNames(transaction);
    if (!names.includes(versionTable)) {
      if (names.length > 0) {
        throw new SchemaError("not a starpost database: it contains other tables");
      }
      await dialect.checkEmptyDatabase(transaction);
      await createVersionTable(transaction);
      await createNewest(transaction, dialect, nowMs);
    }
    const current = (await readSchemaVersion(transaction, dialect)) ?? 0;
    if (current > newestSchema) {
      throw new SchemaError(
        `created by a newer starpost (schema ${current}; this version supports ${newestSchema}): update starpost`,
      );
    }
    for (const migration of migrations.filter(({ version }) => version > current)) {
      await migration.up(dialect.createSchema(transaction), dialect, transaction);
      await dialect.distributeNewTables?.(transaction);
      await migration.updateRows?.(transaction, dialect);
      await recordMigration(migration, transaction, nowMs);
    }
  });
}

/** Creates all tables of a new database at once, if the dialect can. */
async function createNewest(db: Kysely<never>, dialect: StorageDialect, nowMs: number): Promise<void> {
  const newest = await dialect.loadNewestSchema?.();
  if (newest?.version !== newestSchema) return;
  for (const statement of newest.statements) await sql.raw(statement).execute(db);
  for (const migration of migrations) await recordMigration(migration, db, nowMs);
}

async function recordMigration(
  { version, name }: Pick<Migration, "version" | "name">,
  db: Kysely<never>,
  nowMs: number,
): Promise<void> {
  const insert = sql`insert into ${sql.table(versionTable)} (version, name, applied_at)
    values (${version}, ${name}, ${nowMs})`;
  await db.executeQuery(defer(insert.compile(db)));
}

/** Names the migrations that a database with this schema needs. */
export function listPending(schema: number): readonly string[] {
  return migrations.filter(({ version }) => version > schema).map(({ version, name }) => `${version}: ${name}`);
}

async function createVersionTable(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable(versionTable)
    .addColumn("version", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("applied_at", "bigint", (column) => column.notNull())
    .execute();
}

/** Returns undefined if the database has no starpost tables. */
export async function readSchemaVersion(db: Kysely<never>, dialect: StorageDialect): Promise<number | undefined> {
  if (!(await dialect.readTableNames(db)).includes(versionTable)) return undefined;
  const { rows } = await sql<{ version: number | null }>`
    select max(version) as version from ${sql.table(versionTable)}`.execute(db);
  return rows[0]?.version ?? 0;
}
