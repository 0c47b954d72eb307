import { type CreateTableBuilder, type Kysely, type SchemaModule, sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";

/** A numbered step of the schema, the same for all dialects. Released steps never change. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: (schema: SchemaModule, dialect: StorageDialect, db: Kysely<never>) => Promise<void>;
  /** Updates existing rows after `up`. */
  readonly updateRows?: (db: Kysely<never>, dialect: StorageDialect) => Promise<void>;
}

type ColumnType = "text" | "bigint" | "integer";

/** Creates a table with an ID that is never reused. */
export function withId(schema: SchemaModule, table: string, dialect: StorageDialect): TableBuilder {
  return schema.createTable(table).addColumn("id", dialect.idColumn.type, dialect.idColumn.build);
}

export type TableBuilder = CreateTableBuilder<string, string>;

/** Adds columns. A column whose name ends in `?` is nullable. */
export function addColumns(table: TableBuilder, columns: Record<string, ColumnType>): TableBuilder {
  return Object.entries(columns).reduce<TableBuilder>((built, [name, type]) => {
    const isOptional = name.endsWith("?");
    return built.addColumn(isOptional ? name.slice(0, -1) : name, type, (column) =>
      isOptional ? column : column.notNull(),
    );
  }, table);
}

/** Starts a table of rows with an ID that belong to an account. */
export function createOwned(schema: SchemaModule, table: string, dialect: StorageDialect): TableBuilder {
  return addAccount(withId(schema, table, dialect));
}

/** Creates a table of rows with an ID that belong to an account. On a server, the primary key begins with the account. */
export async function createOwnedTable(
  {
    schema,
    dialect,
    db,
  }: { readonly schema: SchemaModule; readonly dialect: StorageDialect; readonly db: Kysely<never> },
  table: string,
  columns: Record<string, ColumnType>,
): Promise<void> {
  if (!dialect.keysHaveAccounts) {
    await addColumns(createOwned(schema, table, dialect), columns).execute();
    return;
  }
  // Not an identity column: a table that is distributed over several servers can neither have nor lose one.
  const sequence = `${table}_id_seq`;
  await sql`create sequence ${sql.table(sequence)} as bigint`.execute(db);
  const next = sql`nextval(${sql.lit(`"${sequence}"`)})`;
  const created = schema.createTable(table).addColumn("id", "bigint", (column) => column.notNull().defaultTo(next));
  await addColumns(addAccount(created), columns)
    .addPrimaryKeyConstraint(`${table}_pkey`, ["account_id", "id"])
    .execute();
}

/** Creates a table of rows of an account whose primary key, `<table>_key`, consists of columns. */
export function createKeyedTable(
  schema: SchemaModule,
  table: string,
  key: readonly string[],
  columns: Record<string, ColumnType>,
): Promise<void> {
  return addColumns(addAccount(schema.createTable(table)), columns)
    .addPrimaryKeyConstraint(`${table}_key`, [...key])
    .execute();
}

/** Creates an index. With `notNull`, it contains only rows in which that column has a value. */
export function addIndex(
  schema: SchemaModule,
  name: string,
  table: string,
  columns: readonly string[],
  { isUnique = false, notNull }: { readonly isUnique?: boolean; readonly notNull?: string } = {},
): Promise<void> {
  const plain = schema
    .createIndex(name)
    .on(table)
    .columns([...columns]);
  const index = isUnique ? plain.unique() : plain;
  return (notNull === undefined ? index : index.where(sql.ref(notNull), "is not", null)).execute();
}

/** Adds an integer column that is 0 in existing rows. */
export function addCounter(schema: SchemaModule, table: string, column: string): Promise<void> {
  return schema
    .alterTable(table)
    .addColumn(column, "integer", (built) => built.notNull().defaultTo(0))
    .execute();
}

function addAccount(table: TableBuilder): TableBuilder {
  return table.addColumn("account_id", "bigint", (column) => column.notNull().references("accounts.id"));
}
