import { type Kysely, sql } from "kysely";
import { statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { StorageDialect } from "../dialect.ts";
import type { StorageIssue } from "../storage-error.ts";
import { readResultCode, resultCodes } from "./result-codes.ts";
import { MemoryTokenStore } from "../token-store.ts";
import type { Tables } from "../tables.ts";
import { formatIndexes, formatTable, type SqlTypes } from "../schema/create-table.ts";
import type { Table } from "../tables/columns.ts";
import type { TextSearch } from "../text-search.ts";

/** How often emptying the log is tried while other processes read, and the time in between. */
const checkpoints = { attempts: 20, waitMs: 100 } as const;

/** Rewrites the file, so that it contains only rows, and empties the write-ahead log, which contains earlier pages. */
async function rewriteFile(db: Kysely<Tables>): Promise<boolean> {
  // The copy may be too large for the memory.
  await sql`pragma temp_store = file`.execute(db);
  try {
    await sql`vacuum`.execute(db);
  } finally {
    await sql`pragma temp_store = memory`.execute(db);
  }
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
    if (rows[0]?.busy === 0) return true;
    if (attempt === checkpoints.attempts) return false;
    await setTimeout(checkpoints.waitMs);
  }
}

/**
 * Reads the flag from the file header, because a file that is opened as immutable does not report its journal mode.
 * Source: sqlite.org/fileformat2.html
 */
async function readWriteAheadFlag(path: string): Promise<boolean> {
  const { open } = await import("node:fs/promises");
  const header = Buffer.alloc(20);
  const file = await open(path, "r");
  try {
    await file.read(header, 0, header.length, 0);
  } finally {
    await file.close();
  }
  return header[19] === 2;
}

const issues: Readonly<Record<number, StorageIssue>> = {
  [resultCodes.busy]: ["busy", "another process has locked the database"],
  [resultCodes.tableLocked]: ["busy", "another process has locked the database"],
  [resultCodes.readOnly]: ["readOnly", "the database is read-only"],
  [resultCodes.io]: ["full", "reading or writing the database failed (is the disk full or failing?)"],
  [resultCodes.damaged]: ["damaged", "the database file is damaged"],
  [resultCodes.full]: ["full", "the disk is full"],
  [resultCodes.cannotOpen]: ["cannotOpen", "the database file cannot be opened"],
  [resultCodes.notADatabase]: [
    "notOurs",
    "the file is not a SQLite database",
    () => "if it was a starpost database, restore it from a backup; otherwise, specify another database",
  ],
};

const fileErrors: Readonly<Record<string, StorageIssue>> = {
  ERR_DATABASE_DELETED: ["deleted", "the database file was deleted or replaced while it was in use"],
  ERR_DATABASE_DELETED_IN_COMMIT: ["unsure", "the database file was deleted or replaced during the write"],
  ERR_TABLE_MISSING: ["damaged", "a table is missing"],
  ERR_LOG_NOT_WRITTEN: ["unsure", "writing the database to the disk failed (is the disk full or failing?)"],
  ENOSPC: ["full", "the disk is full"],
  EROFS: ["readOnly", "the database is on a read-only file system"],
  EACCES: ["cannotOpen", "permission to open the database file was denied"],
  EPERM: ["cannotOpen", "permission to open the database file was denied"],
  EISDIR: ["cannotOpen", "the path is a folder, not a database file"],
  ENOTDIR: ["cannotOpen", "a part of the path is not a folder"],
  EEXIST: ["cannotOpen", "a part of the path is not a folder"],
  ENOENT: ["cannotOpen", "the folder of the database file does not exist"],
};

function explainSqliteError(error: unknown): StorageIssue | undefined {
  const { code } = error as { code?: unknown };
  const issue = issues[readResultCode(error) ?? 0];
  return issue ?? (typeof code === "string" ? fileErrors[code] : undefined);
}

const id = "integer primary key autoincrement";

const sqliteTypes: SqlTypes = {
  text: "text",
  bigint: "bigint",
  integer: "integer",
  bytes: "blob",
  rowId: id,
  ownId: id,
  account: "bigint",
};

/** Lists the statements that create a table. */
export function createSqliteTable(name: string, table: Table): readonly string[] {
  if (table.view !== undefined) return [`create view "${name}" as ${table.view}`];
  if (table.isTextIndex) return sqliteTextSearch.createIndex(name, table);
  return [
    formatTable(name, table, sqliteTypes),
    ...formatIndexes(name, { ...table.indexes, ...table.fileIndexes }),
    ...formatIndexes(name, table.uniqueIndexes, "unique index"),
  ];
}

/**
 * FTS5, with the words in a table of their own and triggers that update the index. Deleted words do not stay in the index
 * (`secure-delete`).
 */
const sqliteTextSearch: TextSearch = {
  createIndex: (name, { columns }) => {
    const [, row = ""] = Object.keys(columns);
    const index = `${name}_text`;
    const add = (version: string) =>
      `insert into ${index} (rowid, words) values (${version}.${row}, ${version}.words);`;
    const remove = `insert into ${index} (${index}, rowid, words) values ('delete', old.${row}, old.words);`;
    return [
      `create table ${name} (account_id bigint not null references accounts (id), ${row} integer primary key,
        words text not null)`,
      `create index ${name}_of_account on ${name} (account_id)`,
      `create virtual table ${index} using fts5 (words, content = '${name}', content_rowid = '${row}',
        tokenize = "ascii tokenchars '_'", columnsize = 0)`,
      `insert into ${index} (${index}, rank) values ('secure-delete', 1)`,
      `create trigger ${name}_added after insert on ${name} begin ${add("new")} end`,
      `create trigger ${name}_removed after delete on ${name} begin ${remove} end`,
      `create trigger ${name}_changed after update on ${name} begin ${remove} ${add("new")} end`,
    ];
  },
  keyOf: (row) => [row],
  hasTags: false,
  formatWords: (words) => words.join(" "),
  toColumn: (words) => words,
  contains: (words, phrases) => {
    const padded = sql`' ' || ${words} || ' '`;
    return sql`${sql.join(
      phrases.map((phrase) => sql`instr(${padded}, ${` ${phrase.join(" ")} `}) > 0`),
      sql` and `,
    )}`;
  },
  match: (table, _row, { phrases }) => {
    const index = sql.table(`${table}_text`);
    const query = phrases.map((words) => `"${words.join(" ")}"`).join(" AND ");
    return { table: index, id: sql`${index}.rowid`, condition: sql`${index} match ${query}` };
  },
};

export const sqlite: StorageDialect = {
  name: "sqlite",
  runsInOrder: true,
  isPipelined: false,
  createDriver: async (path, options) => (await import("./driver.ts")).createSqliteDriver(path, options),
  explainError: explainSqliteError,

  sqlTypes: sqliteTypes,
  createTables: async (tables, db) => {
    for (const [name, table] of Object.entries(tables)) {
      for (const statement of createSqliteTable(name, table)) await sql.raw(statement).execute(db);
    }
  },
  keysHaveAccounts: false,
  // A transaction that may write locks the file.
  lockDatabase: async () => {},
  checkEmptyDatabase: async () => {},
  // Without the tables of a full-text index.
  readTableNames: async (db) => {
    const { rows } = await sql<{ name: string }>`
      select name from pragma_table_list
      where schema = 'main' and type in ('table', 'view') and name not like 'sqlite_%'`.execute(db);
    return rows.map(({ name }) => name);
  },

  runAll: async <T extends readonly unknown[]>(steps: { readonly [At in keyof T]: () => Promise<T[At]> }) => {
    const results: unknown[] = [];
    for (const step of steps) results.push(await step());
    return results as unknown as T;
  },
  // `jsonb_each` over lists is the fastest way to read them.
  selectBatch: (columns, rows) => {
    const selected = Object.keys(columns).map((name, index) => sql`value->>${sql.lit(index)} as ${sql.ref(name)}`);
    return sql`(select ${sql.join(selected)} from jsonb_each(${rows}))`;
  },
  // SQLite reads the first table of a cross join in its own order.
  inBatchOrder: sql``,
  isAmongFirst: (table, condition, limit) =>
    sql`rowid in (select rowid from ${sql.table(table)} where ${condition} limit ${sql.lit(limit)})`,

  // A unary plus does nothing else.
  withoutIndex: (column) => sql`+${column}`,
  isNotPlain: (text) => sql`(${text} glob '*[^!-~]*')`,
  testRows: (condition) => sql`(${condition})`,
  optimizationFence: sql`limit -1`,
  textSearch: sqliteTextSearch,
  createTokenStore: () => new MemoryTokenStore(),

  removeDeleted: async (_tables, db) => rewriteFile(db),
  readFacts: async (db, path) => {
    const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(db);
    return {
      version: `SQLite ${rows[0]?.version ?? ""}`,
      bytes: statSync(path).size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0),
      hasWriteAheadLog: await readWriteAheadFlag(path),
      clockAheadMs: null,
      writer: null,
      replication: null,
      connections: null,
      cluster: null,
    };
  },
};
