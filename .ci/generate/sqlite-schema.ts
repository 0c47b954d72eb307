import { Kysely, sql } from "kysely";
import { migrate, newestSchema } from "../../src/storage/migrations/migrate.ts";
import { sqlite } from "../../src/storage/sqlite/dialect.ts";

export const schemaFile = "src/storage/sqlite/newest-schema.ts";

/** Lists the statements that create the tables that all migrations together create. */
async function readStatements(): Promise<readonly string[]> {
  const db = new Kysely<never>({ dialect: await sqlite.createDriver(":memory:", {}) });
  try {
    await migrate(db, { ...sqlite, loadNewestSchema: undefined }, 0);
    // A full-text index creates tables itself.
    const { rows } = await sql<{ sql: string }>`
      select sql from sqlite_master where sql is not null and name not like 'sqlite_%'
        and tbl_name <> 'starpost_migrations'
        and name not in (select name from pragma_table_list where type = 'shadow')
      order by rowid`.execute(db);
    return [...rows.map((row) => row.sql), ...(await readIndexSettings(db))];
  } finally {
    await db.destroy();
  }
}

/** Lists the statements that configure the full-text indexes. Source: sqlite.org/fts5.html, "Special INSERT Commands" */
async function readIndexSettings(db: Kysely<never>): Promise<readonly string[]> {
  const { rows: indexes } = await sql<{ name: string }>`
    select name from pragma_table_list where type = 'virtual' order by name`.execute(db);
  const statements: string[] = [];
  for (const { name } of indexes) {
    const { rows } = await sql<{ k: string; v: number }>`
      select k, v from ${sql.table(`${name}_config`)} where k <> 'version' order by k`.execute(db);
    statements.push(...rows.map(({ k, v }) => `insert into "${name}" ("${name}", rank) values ('${k}', ${v})`));
  }
  return statements;
}

export async function writeSqliteSchema(): Promise<string> {
  const statements = await readStatements();
  return [
    "// Generated from the migrations by `npm run generate`. Do not edit.",
    'import type { NewestSchema } from "../dialect.ts";',
    "",
    "/** Creates the tables of a new file. */",
    "export const newestSchema: NewestSchema = {",
    `  version: ${newestSchema},`,
    "  statements: [",
    ...statements.map((statement) => `    ${JSON.stringify(statement.replaceAll(/\s*\n\s*/g, " "))},`),
    "  ],",
    "};",
    "",
  ].join("\n");
}
