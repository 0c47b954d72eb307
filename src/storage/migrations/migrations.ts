import { accountKeys } from "./account-keys.ts";
import { accountStates } from "./account-states.ts";
import { bottomLineTables } from "./bottom-line-tables.ts";
import { customerTables } from "./customers.ts";
import { mailTables } from "./email-tables.ts";
import { emailDefaults } from "./email-defaults.ts";
import { emailPermissions } from "./email-permissions.ts";
import { erasureIndex } from "./erasure-index.ts";
import { groupNames } from "./group-names.ts";
import { imageUrls } from "./image-urls.ts";
import { idempotencyTables } from "./idempotency-tables.ts";
import { listIndexes } from "./list-indexes.ts";
import { moderation } from "./moderation.ts";
import { questionAuthors } from "./question-authors.ts";
import { reviewModeration } from "./review-moderation.ts";
import { searchTables } from "./search-tables.ts";
import { searchTags } from "./search-tags.ts";
import { serviceTables } from "./service-tables.ts";
import { storeProducts } from "./store-products.ts";
import { templateFailures } from "./template-failures.ts";
import { thumbnails } from "./thumbnails.ts";
import { tokenBuckets } from "./token-buckets.ts";
import { addColumns, addIndex, createKeyedTable, createOwned, type Migration, withId } from "./table-builders.ts";

const first: Migration = {
  version: 1,
  name: "accounts, products, orders, coupons, unsubscribers",
  up: async (schema, dialect) => {
    await addColumns(withId(schema, "accounts", dialect), { app_key: "text", secret_sealed: "text" })
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("accounts_app_key", ["app_key"])
      .execute();

    await addColumns(createOwned(schema, "users", dialect), {
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

    await addColumns(createOwned(schema, "utokens", dialect), {
      token_hash: "text",
      created_at: "bigint",
      expires_at: "bigint",
    })
      .addUniqueConstraint("utokens_hash", ["token_hash"])
      .execute();
    await addIndex(schema, "utokens_by_age", "utokens", ["account_id", "created_at", "id"]);

    await createKeyedTable(schema, "account_platforms", ["account_id"], {
      platform_type_id: "integer",
      shop_domain: "text",
      shop_token: "text",
      updated_at: "bigint",
    });

    await createKeyedTable(schema, "account_features", ["account_id", "feature"], {
      feature: "text",
      enabled: "integer",
    });

    await addColumns(createOwned(schema, "products", dialect), {
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
    await addIndex(schema, "products_by_external_sku", "products", ["account_id", "external_sku"], {
      isUnique: true,
      notNull: "external_sku",
    });
    await addIndex(schema, "products_by_change", "products", ["account_id", "updated_at", "id"]);

    await addColumns(createOwned(schema, "orders", dialect), {
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

    await addColumns(createOwned(schema, "purchases", dialect), {
      order_row: "bigint",
      product_row: "bigint",
      unit: "integer",
      "price?": "text",
      created_at: "bigint",
    })
      .addUniqueConstraint("purchases_unit", ["order_row", "product_row", "unit"])
      .execute();
    await addIndex(schema, "purchases_by_account", "purchases", ["account_id", "id"]);
    await createKeyedTable(schema, "purchase_days", ["account_id", "day"], {
      day: "bigint",
      first_id: "bigint",
      purchases: "bigint",
    });

    await createKeyedTable(schema, "mail_stops", ["account_id", "order_id", "product_id"], {
      order_id: "text",
      product_id: "text",
      created_at: "bigint",
    });

    await addColumns(createOwned(schema, "coupons", dialect), {
      action: "text",
      code: "text",
      created_at: "bigint",
    })
      .addUniqueConstraint("coupons_code", ["account_id", "code"])
      .execute();
    await addIndex(schema, "coupons_by_action", "coupons", ["account_id", "action", "id"]);

    await addColumns(createOwned(schema, "unsubscribers", dialect), {
      email_type_id: "integer",
      email: "text",
      email_key: "text",
      by_name: "text",
      created_at: "bigint",
    })
      .addUniqueConstraint("unsubscribers_key", ["account_id", "email_type_id", "email_key"])
      .execute();
    await addIndex(schema, "unsubscribers_by_account", "unsubscribers", ["account_id", "id"]);
  },
};

export const migrations: readonly Migration[] = [
  first,
  serviceTables,
  mailTables,
  idempotencyTables,
  bottomLineTables,
  groupNames,
  thumbnails,
  emailDefaults,
  accountStates,
  emailPermissions,
  reviewModeration,
  templateFailures,
  tokenBuckets,
  imageUrls,
  storeProducts,
  accountKeys,
  customerTables,
  moderation,
  searchTables,
  erasureIndex,
  questionAuthors,
  listIndexes,
  searchTags,
];
