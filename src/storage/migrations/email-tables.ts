import { type SchemaModule, sql } from "kysely";
import { addAccount, addColumns, type Migration, withId } from "./table-builders.ts";

/** Whether emails are sent for an order. Not for existing orders. */
async function addOrderColumns(schema: SchemaModule): Promise<void> {
  await schema
    .alterTable("orders")
    .addColumn("sends_mail", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  // The order whose email led to the review.
  await schema.alterTable("reviews").addColumn("order_row", "bigint").execute();
  await schema
    .createIndex("reviews_by_order")
    .unique()
    .on("reviews")
    .columns(["order_row", "product_row"])
    .where(sql.ref("order_row"), "is not", null)
    .execute();
  // Whether a person reviewed a product is checked for every email that is due.
  await schema
    .createIndex("reviews_by_author")
    .on("reviews")
    .columns(["user_row", "product_row", "created_at"])
    .execute();
}

/** A worker owns a row until its lease expires; then another worker may take it. */
const leaseColumns = { worker: "text", leased_until: "bigint" } as const;

async function addMailColumns(schema: SchemaModule): Promise<void> {
  const columns = {
    order_row: "bigint",
    product_row: "bigint",
    reason: "text",
    sent_at: "bigint",
    provider_id: "text",
    ...leaseColumns,
  } as const;
  for (const [name, type] of Object.entries(columns)) {
    await schema.alterTable("mails").addColumn(name, type).execute();
  }
  await schema
    .alterTable("mails")
    .addColumn("attempts", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  await schema
    .createIndex("mails_of_orders")
    .unique()
    .on("mails")
    .columns(["order_row", "product_row", "category"])
    .where(sql.ref("order_row"), "is not", null)
    .execute();
  await schema
    .createIndex("mails_by_person")
    .on("mails")
    .columns(["account_id", "email_key", "sent_at"])
    .execute();
  await schema
    .createIndex("mails_by_account_state")
    .on("mails")
    .columns(["account_id", "state", "due_at", "id"])
    .execute();
  await schema
    .createIndex("mails_by_provider_id")
    .on("mails")
    .columns(["account_id", "provider_id"])
    .where(sql.ref("provider_id"), "is not", null)
    .execute();
  await schema
    .createIndex("mails_by_lease")
    .on("mails")
    .columns(["leased_until", "id"])
    .where(sql.ref("leased_until"), "is not", null)
    .execute();
}

async function addDeliveryColumns(schema: SchemaModule): Promise<void> {
  for (const [name, type] of Object.entries({
    ...leaseColumns,
    delivered_at: "bigint",
    reason: "text",
  } as const)) {
    await schema.alterTable("webhook_deliveries").addColumn(name, type).execute();
  }
  await schema
    .alterTable("webhook_deliveries")
    .addColumn("attempts", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  await schema
    .createIndex("webhook_deliveries_by_lease")
    .on("webhook_deliveries")
    .columns(["leased_until", "id"])
    .where(sql.ref("leased_until"), "is not", null)
    .execute();
  await schema
    .createIndex("webhook_deliveries_by_account")
    .on("webhook_deliveries")
    .columns(["account_id", "id"])
    .execute();
  await schema
    .createIndex("webhook_deliveries_by_account_state")
    .on("webhook_deliveries")
    .columns(["account_id", "state", "id"])
    .execute();
  // For finding the next delivery of each subscription, regardless of the number of queued ones.
  await schema
    .createIndex("webhook_deliveries_by_webhook")
    .on("webhook_deliveries")
    .columns(["state", "webhook_row", "due_at", "id"])
    .execute();
  await schema.alterTable("webhooks").addColumn("held_until", "bigint").execute();
}

/**
 * Assumed: emails that were queued before this version could send emails are not sent, because they are outdated and their
 * links are no longer valid.
 */
const notSentReason = "queued before emails could be sent";

export const mailTables: Migration = {
  version: 3,
  name: "order emails, email outcomes, settings, templates, webhook attempts",
  up: async (schema, dialect) => {
    const owned = (table: string) => addAccount(withId(schema, table, dialect));
    await addOrderColumns(schema);
    await addMailColumns(schema);
    await addDeliveryColumns(schema);

    await addColumns(owned("mail_events"), {
      mail_row: "bigint",
      event: "text",
      event_key: "text",
      "detail?": "text",
      occurred_at: "bigint",
      created_at: "bigint",
    })
      .addUniqueConstraint("mail_events_key", ["account_id", "event_key"])
      .execute();
    await schema.createIndex("mail_events_by_mail").on("mail_events").columns(["mail_row", "id"]).execute();

    await addColumns(addAccount(schema.createTable("mail_suppressions")), {
      email_key: "text",
      kind: "text",
      mail_row: "bigint",
      created_at: "bigint",
    })
      .addPrimaryKeyConstraint("mail_suppressions_key", ["account_id", "email_key", "kind"])
      .execute();

    await addColumns(addAccount(schema.createTable("account_settings")), {
      name: "text",
      value: "text",
      updated_at: "bigint",
    })
      .addPrimaryKeyConstraint("account_settings_key", ["account_id", "name"])
      .execute();

    await addColumns(addAccount(schema.createTable("mail_templates")), {
      category: "text",
      subject: "text",
      text: "text",
      html: "text",
      updated_at: "bigint",
    })
      .addPrimaryKeyConstraint("mail_templates_key", ["account_id", "category"])
      .execute();

    await addColumns(owned("webhook_attempts"), {
      delivery_row: "bigint",
      worker: "text",
      started_at: "bigint",
      "duration_ms?": "bigint",
      "status?": "integer",
      "problem?": "text",
    }).execute();
    await schema
      .createIndex("webhook_attempts_by_delivery")
      .on("webhook_attempts")
      .columns(["delivery_row", "id"])
      .execute();
    await schema
      .createIndex("webhook_attempts_by_account")
      .on("webhook_attempts")
      .columns(["account_id", "id"])
      .execute();
  },
  updateRows: async (db) => {
    await sql`update mails set state = 'not_sent', reason = ${notSentReason} where state = 'queued'`.execute(
      db,
    );
  },
};
