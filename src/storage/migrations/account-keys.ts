import { type Kysely, type SchemaModule, sql } from "kysely";
import type { StorageDialect, TableKey } from "../dialect.ts";
import { addColumns, addIndex, createKeyedTable, type Migration } from "./table-builders.ts";

/** Tables with an ID, which is unique within a database. */
const withIds = [
  "answers",
  "bottom_line_changes",
  "coupons",
  "idempotent_calls",
  "mail_events",
  "mails",
  "missed_products",
  "orders",
  "product_groups",
  "products",
  "purchases",
  "questions",
  "review_events",
  "review_images",
  "reviews",
  "unsubscribers",
  "users",
  "votes",
  "webhook_attempts",
  "webhook_deliveries",
  "webhooks",
] as const;

/** Other tables with many rows of an account. */
const withoutIds = [
  "group_products",
  "mail_counts",
  "mail_stops",
  "mail_suppressions",
  "order_emails",
  "promoted_products",
  "purchase_days",
  "question_totals",
  "review_totals",
] as const;

/** Keys that did not contain the account. */
const keys: readonly TableKey[] = [
  { table: "group_products", name: "group_products_key", isPrimary: true, columns: ["account_id", "product_row"] },
  { table: "order_emails", name: "order_emails_key", isPrimary: true, columns: ["account_id", "order_row"] },
  { table: "question_totals", name: "question_totals_key", isPrimary: true, columns: ["account_id", "product_row"] },
  { table: "review_totals", name: "review_totals_key", isPrimary: true, columns: ["account_id", "shelf"] },
  {
    table: "purchases",
    name: "purchases_unit",
    isPrimary: false,
    columns: ["account_id", "order_row", "product_row", "unit"],
  },
  { table: "users", name: "users_slug", isPrimary: false, columns: ["account_id", "slug"] },
];

/** Indexes that did not begin with the account: table, name, columns, and options. */
const indexes: readonly (readonly [string, string, readonly string[], Parameters<typeof addIndex>[4]?])[] = [
  ["reviews", "reviews_by_date", ["shelf", "published", "created_at", "id"]],
  ["reviews", "reviews_by_score", ["shelf", "published", "score", "created_at", "id"]],
  ["reviews", "reviews_by_votes_up", ["shelf", "published", "votes_up", "created_at", "id"]],
  ["reviews", "reviews_by_votes_down", ["shelf", "published", "votes_down", "created_at", "id"]],
  ["reviews", "reviews_by_reviewer_type", ["shelf", "published", "reviewer_type", "created_at", "id"]],
  ["reviews", "reviews_by_product", ["product_row", "id"]],
  ["reviews", "reviews_by_author", ["user_row", "product_row", "created_at"]],
  ["reviews", "reviews_by_order", ["order_row", "product_row"], { isUnique: true, notNull: "order_row" }],
  ["review_events", "review_events_by_review", ["review_row", "id"]],
  ["review_images", "review_images_by_review", ["review_row", "id"]],
  ["questions", "questions_by_product", ["product_row", "state", "id"]],
  ["questions", "questions_by_content", ["product_row", "content_key"]],
  ["answers", "answers_by_question", ["question_row", "published"]],
  ["group_products", "group_products_by_group", ["group_row", "product_row"]],
  ["mails", "mails_of_orders", ["order_row", "product_row", "category"], { isUnique: true, notNull: "order_row" }],
  ["mail_events", "mail_events_by_mail", ["mail_row", "id"]],
  ["webhook_attempts", "webhook_attempts_by_delivery", ["delivery_row", "id"]],
  ["webhook_deliveries", "webhook_deliveries_by_webhook", ["state", "webhook_row", "due_at", "id"]],
  ["idempotent_calls", "idempotent_calls_by_age", ["created_at"]],
];

/** Indexes in which a worker finds the accounts that have something to do: table, name, first column, and condition. */
const workerIndexes = [
  ["mails", "mails_by_state", "due_at", sql<boolean>`state = 'queued'`],
  ["mails", "mails_by_lease", "leased_until", sql<boolean>`leased_until is not null`],
  ["webhook_deliveries", "webhook_deliveries_by_state", "due_at", sql<boolean>`state = 'queued'`],
  ["webhook_deliveries", "webhook_deliveries_by_lease", "leased_until", sql<boolean>`leased_until is not null`],
] as const;

/** Indexes that others now cover. */
const covered = [
  "answers_of_account",
  "group_products_by_account",
  "question_totals_of_account",
  "questions_of_account",
  "review_events_of_account",
  "review_images_of_account",
  "review_totals_of_account",
] as const;

/** Indexes of account and ID, which a primary key of the same columns replaces. */
const coveredByKey = [
  "missed_products_by_account",
  "mails_by_account",
  "purchases_by_account",
  "unsubscribers_by_account",
  "votes_of_account",
  "webhook_attempts_by_account",
  "webhook_deliveries_by_account",
] as const;

async function changeIndexes(schema: SchemaModule, dialect: StorageDialect): Promise<void> {
  for (const name of dialect.keysHaveAccounts ? [...covered, ...coveredByKey] : covered) {
    await schema.dropIndex(name).execute();
  }
  for (const [table, name, columns, options] of indexes) {
    await schema.dropIndex(name).execute();
    await addIndex(schema, name, table, ["account_id", ...columns], options);
  }
  for (const [table, name, column, condition] of workerIndexes) {
    await schema.dropIndex(name).execute();
    await schema.createIndex(name).on(table).columns([column, "account_id"]).where(condition).execute();
  }
  // For checking whether any account's owner has a slug.
  await schema
    .createIndex("users_by_owner_slug")
    .on("users")
    .columns(["slug"])
    .where(sql<boolean>`kind = 'owner'`)
    .execute();
  await schema.dropIndex("review_totals_by_group").execute();
  await schema
    .createIndex("review_totals_by_group")
    .on("review_totals")
    .columns(["account_id", "shown_group"])
    .where(sql<boolean>`shown_group > 0`)
    .execute();
}

/**
 * Adds the lookup of records that anyone may name by their ID alone. Where IDs are keys of their own, it is a view.
 */
async function addPublicIds(schema: SchemaModule, dialect: StorageDialect, db: Kysely<never>): Promise<void> {
  const kinds = { review: "reviews", answer: "answers", image: "review_images", user: "users" };
  const selects = Object.entries(kinds).map(
    ([kind, table]) => sql`select ${sql.lit(kind)} as kind, id, account_id from ${sql.table(table)}`,
  );
  const rows = sql.join(selects, sql` union all `);
  if (!dialect.keysHaveAccounts) {
    await sql`create view public_ids as ${rows}`.execute(db);
    return;
  }
  await addColumns(schema.createTable("public_ids"), { kind: "text", id: "bigint", account_id: "bigint" })
    .addPrimaryKeyConstraint("public_ids_key", ["kind", "id"])
    .execute();
  await sql`insert into public_ids (kind, id, account_id) ${rows}`.execute(db);
  await addIndex(schema, "public_ids_of_account", "public_ids", ["account_id", "kind", "id"]);
}

/**
 * Makes the account the first column of keys and indexes, so that the rows of an account can be locked, read, and moved
 * to another server independently of all others. On SQLite, where all rows are in one file, IDs remain keys of their own.
 */
export const accountKeys: Migration = {
  version: 16,
  name: "accounts in all keys",
  up: async (schema, dialect, db) => {
    await createKeyedTable(schema, "account_versions", ["account_id"], { version: "bigint" });
    for (const key of keys) await dialect.changeKey(key, db);
    for (const table of withIds) await dialect.addAccountToId(table, db);
    await changeIndexes(schema, dialect);
    await addPublicIds(schema, dialect, db);
    for (const table of [...withIds, ...withoutIds]) await dialect.ignoreAccountCounts(table, db);
  },
  updateRows: async (db) => {
    await sql`insert into account_versions (account_id, version) select id, 1 from accounts`.execute(db);
  },
};
