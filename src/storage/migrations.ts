import { type CreateTableBuilder, type Kysely, type SchemaModule, sql } from "kysely";
import type { DialectName } from "./dialect.ts";

/** A numbered step of the schema, the same list for both dialects. A step that was released is never changed. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: (schema: SchemaModule, dialect: DialectName) => Promise<void>;
}

type ColumnType = "text" | "bigint" | "integer";

/** An id that is never given twice, even after its row is gone. */
function withId(schema: SchemaModule, table: string, dialect: DialectName): TableBuilder {
  return schema
    .createTable(table)
    .addColumn("id", dialect === "sqlite" ? "integer" : "bigint", (column) =>
      dialect === "sqlite"
        ? column.primaryKey().autoIncrement()
        : column.primaryKey().generatedAlwaysAsIdentity(),
    );
}

type TableBuilder = CreateTableBuilder<string, string>;

function addColumns(table: TableBuilder, columns: Record<string, ColumnType>): TableBuilder {
  return Object.entries(columns).reduce<TableBuilder>((built, [name, type]) => {
    const isOptional = name.endsWith("?");
    return built.addColumn(isOptional ? name.slice(0, -1) : name, type, (column) =>
      isOptional ? column : column.notNull(),
    );
  }, table);
}

function addAccount(table: TableBuilder): TableBuilder {
  return table.addColumn("account_id", "bigint", (column) => column.notNull().references("accounts.id"));
}

const first: Migration = {
  version: 1,
  name: "accounts, products, orders, coupons, unsubscribers",
  up: async (schema, dialect) => {
    const owned = (table: string) => addAccount(withId(schema, table, dialect));

    await addColumns(withId(schema, "accounts", dialect), { app_key: "text", secret_sealed: "text" })
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("accounts_app_key", ["app_key"])
      .execute();

    await addColumns(owned("users"), {
      email: "text",
      display_name: "text",
      password_hash: "text",
      url: "text",
      slug: "text",
      "bio?": "text",
      "social_image?": "text",
      created_at: "bigint",
    })
      .addColumn("score", "integer", (column) => column.notNull().defaultTo(0))
      .addUniqueConstraint("users_slug", ["slug"])
      .execute();

    await addColumns(owned("utokens"), { token_hash: "text", created_at: "bigint", expires_at: "bigint" })
      .addUniqueConstraint("utokens_hash", ["token_hash"])
      .execute();
    await schema
      .createIndex("utokens_by_age")
      .on("utokens")
      .columns(["account_id", "created_at", "id"])
      .execute();

    await addColumns(addAccount(schema.createTable("account_platforms")), {
      platform_type_id: "integer",
      shop_domain: "text",
      shop_token: "text",
      updated_at: "bigint",
    })
      .addPrimaryKeyConstraint("account_platforms_key", ["account_id"])
      .execute();

    await addColumns(addAccount(schema.createTable("account_features")), {
      feature: "text",
      enabled: "integer",
    })
      .addPrimaryKeyConstraint("account_features_key", ["account_id", "feature"])
      .execute();

    await addColumns(owned("products"), {
      product_id: "text",
      name: "text",
      url: "text",
      "image_url?": "text",
      "description?": "text",
      "currency_iso?": "text",
      "price?": "text",
      "product_tags?": "text",
      "upc?": "text",
      "mpn?": "text",
      "brand?": "text",
      "isbn?": "text",
      "sku?": "text",
      "external_sku?": "text",
      created_at: "bigint",
      updated_at: "bigint",
    })
      .addColumn("blacklisted", "integer", (column) => column.notNull().defaultTo(0))
      .addUniqueConstraint("products_id", ["account_id", "product_id"])
      .execute();
    await schema
      .createIndex("products_by_external_sku")
      .unique()
      .on("products")
      .columns(["account_id", "external_sku"])
      .where(sql.ref("external_sku"), "is not", null)
      .execute();
    await schema
      .createIndex("products_by_change")
      .on("products")
      .columns(["account_id", "updated_at", "id"])
      .execute();

    await addColumns(owned("orders"), {
      order_id: "text",
      platform: "text",
      email: "text",
      customer_name: "text",
      order_date: "bigint",
      "currency_iso?": "text",
      "user_reference?": "text",
      created_at: "bigint",
    })
      .addUniqueConstraint("orders_id", ["account_id", "order_id"])
      .execute();

    await addColumns(owned("purchases"), {
      order_row: "bigint",
      product_row: "bigint",
      unit: "integer",
      "price?": "text",
      created_at: "bigint",
    })
      .addUniqueConstraint("purchases_unit", ["order_row", "product_row", "unit"])
      .execute();
    await schema.createIndex("purchases_by_account").on("purchases").columns(["account_id", "id"]).execute();
    await addColumns(addAccount(schema.createTable("purchase_days")), {
      day: "bigint",
      first_id: "bigint",
      purchases: "bigint",
    })
      .addPrimaryKeyConstraint("purchase_days_key", ["account_id", "day"])
      .execute();

    await addColumns(addAccount(schema.createTable("mail_stops")), {
      order_id: "text",
      product_id: "text",
      created_at: "bigint",
    })
      .addPrimaryKeyConstraint("mail_stops_key", ["account_id", "order_id", "product_id"])
      .execute();

    await addColumns(owned("coupons"), { action: "text", code: "text", created_at: "bigint" })
      .addUniqueConstraint("coupons_code", ["account_id", "code"])
      .execute();
    await schema
      .createIndex("coupons_by_action")
      .on("coupons")
      .columns(["account_id", "action", "id"])
      .execute();

    await addColumns(owned("unsubscribers"), {
      email_type_id: "integer",
      email: "text",
      email_key: "text",
      by_name: "text",
      created_at: "bigint",
    })
      .addUniqueConstraint("unsubscribers_key", ["account_id", "email_type_id", "email_key"])
      .execute();
    await schema
      .createIndex("unsubscribers_by_account")
      .on("unsubscribers")
      .columns(["account_id", "id"])
      .execute();
  },
};

export const migrations: readonly Migration[] = [first];

const versionTable = "starpost_migrations";

/** A schema that this version does not know how to use. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

/**
 * Brings the schema up to date in one transaction, or changes nothing.
 * @throws SchemaError when a newer version made it, or something else did
 */
export async function migrate(db: Kysely<never>, dialect: DialectName, nowMs: number): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  if ((await readVersion(db)) === newest) return;
  await db.transaction().execute(async (transaction) => {
    const names = (await transaction.introspection.getTables()).map((table) => table.name);
    if (!names.includes(versionTable)) {
      if (names.length > 0) throw new SchemaError("it holds other tables: it is not a starpost database");
      await transaction.schema
        .createTable(versionTable)
        .addColumn("version", "integer", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("applied_at", "bigint", (column) => column.notNull())
        .execute();
    }
    const current = (await readVersion(transaction)) ?? 0;
    if (current > newest) {
      throw new SchemaError(
        `it was made by a newer starpost (schema ${current}; this one knows ${newest}): update starpost`,
      );
    }
    for (const migration of migrations.filter(({ version }) => version > current)) {
      await migration.up(transaction.schema, dialect);
      await sql`insert into ${sql.table(versionTable)} (version, name, applied_at)
        values (${migration.version}, ${migration.name}, ${nowMs})`.execute(transaction);
    }
  });
}

async function readVersion(db: Kysely<never>): Promise<number | undefined> {
  const tables = await db.introspection.getTables();
  if (!tables.some((table) => table.name === versionTable)) return undefined;
  const { rows } = await sql<{ version: number | null }>`
    select max(version) as version from ${sql.table(versionTable)}`.execute(db);
  return rows[0]?.version ?? 0;
}
