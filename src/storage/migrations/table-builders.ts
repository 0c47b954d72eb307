import type { CreateTableBuilder, Kysely, SchemaModule } from "kysely";
import type { DialectName } from "../dialect.ts";

/** A numbered step of the schema, the same list for both dialects. A step that was released is never changed. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: (schema: SchemaModule, dialect: DialectName) => Promise<void>;
  /** What it makes, after `up`, of rows that were there before. */
  readonly takeOver?: (db: Kysely<never>) => Promise<void>;
}

type ColumnType = "text" | "bigint" | "integer";

/** An id that is never given twice, even after its row is gone. */
export function withId(schema: SchemaModule, table: string, dialect: DialectName): TableBuilder {
  return schema
    .createTable(table)
    .addColumn("id", dialect === "sqlite" ? "integer" : "bigint", (column) =>
      dialect === "sqlite"
        ? column.primaryKey().autoIncrement()
        : column.primaryKey().generatedAlwaysAsIdentity(),
    );
}

export type TableBuilder = CreateTableBuilder<string, string>;

/** Adds columns; a name that ends in `?` may be null. */
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
