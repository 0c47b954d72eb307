import { type Kysely, sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";
import { defer } from "../statement.ts";
import { SchemaError } from "../storage-error.ts";
import { type Migration, migrations } from "./migrations.ts";

const versionTable = "starpost_migrations";

const oldestSchema = migrations[0].version;

export const newestSchema = migrations.at(-1)?.version ?? oldestSchema;

/** Why a schema cannot be used, and what to do. */
export interface SchemaProblem {
  readonly problem: string;
  readonly fix: string;
}

/** @returns undefined if the schema can be used, after the pending migrations */
export function findSchemaProblem(schema: number): SchemaProblem | undefined {
  if (schema > newestSchema) {
    return {
      problem: `created by a newer starpost (schema ${schema}; this version supports ${newestSchema})`,
      fix: "Update starpost.",
    };
  }
  if (schema >= oldestSchema) return undefined;
  return {
    problem: `created by an older starpost (schema ${schema}; this version supports ${oldestSchema} and later)`,
    fix: "Upgrade it with commit af372b16 first.",
  };
}

/**
 * Migrates the schema in one transaction, or changes nothing. Processes that migrate at the same time wait for each
 * other, because each locks the database.
 * @param mustExist whether an empty database is left as it is
 * @returns false for such a database
 * @throws SchemaError if another program created the tables, or a version whose schema cannot be used
 */
export async function migrate(
  db: Kysely<never>,
  dialect: StorageDialect,
  nowMs: number,
  mustExist = false,
): Promise<boolean> {
  if ((await readSchemaVersion(db, dialect)) === newestSchema) return true;
  return db.transaction().execute(async (transaction) => {
    await dialect.lockDatabase(transaction);
    const current = await readSchemaVersion(transaction, dialect);
    if (current === undefined) {
      await refuseOtherTables(transaction, dialect);
      if (mustExist) return false;
      await createSchema(transaction, dialect);
      await recordMigrations(migrations, transaction, nowMs);
      return true;
    }
    const found = findSchemaProblem(current);
    if (found) throw new SchemaError(found.problem, found.fix);
    const pending = migrations.filter(({ version }) => version > current);
    for (const { up } of pending) {
      await up({ db: transaction, dialect });
      await dialect.distributeNewTables?.(transaction);
    }
    await recordMigrations(pending, transaction, nowMs);
    return true;
  });
}

async function refuseOtherTables(db: Kysely<never>, dialect: StorageDialect): Promise<void> {
  if ((await dialect.readTableNames(db)).length > 0) {
    throw new SchemaError("not a starpost database: it contains other tables");
  }
}

async function createSchema(db: Kysely<never>, dialect: StorageDialect): Promise<void> {
  await dialect.checkEmptyDatabase(db);
  const { tables } = await import("../tables.ts");
  await sql`create table ${sql.table(versionTable)}
    (version integer primary key, name text not null, applied_at bigint not null)`.execute(db);
  await dialect.createTables(tables, db);
}

async function recordMigrations(applied: readonly Migration[], db: Kysely<never>, nowMs: number): Promise<void> {
  for (const { version, name } of applied) {
    const insert = sql`insert into ${sql.table(versionTable)} (version, name, applied_at)
      values (${version}, ${name}, ${nowMs})`;
    await db.executeQuery(defer(insert.compile(db)));
  }
}

/** Names the migrations that a database with this schema needs, which is 0 for an empty database. */
export function listPending(schema: number): readonly string[] {
  return migrations.filter(({ version }) => version > schema).map(({ version, name }) => `${version}: ${name}`);
}

/** Returns undefined if the database has no starpost tables. */
export async function readSchemaVersion(db: Kysely<never>, dialect: StorageDialect): Promise<number | undefined> {
  if (!(await dialect.readTableNames(db)).includes(versionTable)) return undefined;
  const { rows } = await sql<{ version: number | null }>`
    select max(version) as version from ${sql.table(versionTable)}`.execute(db);
  return rows[0]?.version ?? 0;
}
