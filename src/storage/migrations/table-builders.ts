import type { CreateTableBuilder, Kysely, SchemaModule } from "kysely";
import type { StorageDialect } from "../dialect.ts";

/** A numbered step of the schema, the same for all dialects. Released steps never change. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: (schema: SchemaModule, dialect: StorageDialect) => Promise<void>;
  /** Updates existing rows after `up`. */
  readonly updateRows?: (db: Kysely<never>) => Promise<void>;
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

export function addAccount(table: TableBuilder): TableBuilder {
  return table.addColumn("account_id", "bigint", (column) => column.notNull().references("accounts.id"));
}
