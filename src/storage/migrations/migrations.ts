import { sql } from "kysely";
import { mailTables } from "./email-tables.ts";
import { serviceTables } from "./service-tables.ts";
import { addAccount, addColumns, type Migration, withId } from "./table-builders.ts";

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

export const migrations: readonly Migration[] = [first, serviceTables, mailTables];
