import { type SchemaModule, sql } from "kysely";
import { addColumns, addCounter, addIndex, createKeyedTable, createOwned, type Migration } from "./table-builders.ts";

/** Whether emails are sent for an order. Not for existing orders. */
async function addOrderColumns(schema: SchemaModule): Promise<void> {
  await addCounter(schema, "orders", "sends_mail");
  // The order whose email led to the review.
  await schema.alterTable("reviews").addColumn("order_row", "bigint").execute();
  await addIndex(schema, "reviews_by_order", "reviews", ["order_row", "product_row"], {
    isUnique: true,
    notNull: "order_row",
  });
  // Whether a person reviewed a product is checked for every email that is due.
  await addIndex(schema, "reviews_by_author", "reviews", ["user_row", "product_row", "created_at"]);
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
  await addCounter(schema, "mails", "attempts");
  await addIndex(schema, "mails_of_orders", "mails", ["order_row", "product_row", "category"], {
    isUnique: true,
    notNull: "order_row",
  });
  await addIndex(schema, "mails_by_person", "mails", ["account_id", "email_key", "sent_at"]);
  await addIndex(schema, "mails_by_account_state", "mails", ["account_id", "state", "due_at", "id"]);
  await addIndex(schema, "mails_by_provider_id", "mails", ["account_id", "provider_id"], {
    notNull: "provider_id",
  });
  await addIndex(schema, "mails_by_lease", "mails", ["leased_until", "id"], { notNull: "leased_until" });
}

async function addDeliveryColumns(schema: SchemaModule): Promise<void> {
  for (const [name, type] of Object.entries({
    ...leaseColumns,
    delivered_at: "bigint",
    reason: "text",
  } as const)) {
    await schema.alterTable("webhook_deliveries").addColumn(name, type).execute();
  }
  await addCounter(schema, "webhook_deliveries", "attempts");
  await addIndex(schema, "webhook_deliveries_by_lease", "webhook_deliveries", ["leased_until", "id"], {
    notNull: "leased_until",
  });
  await addIndex(schema, "webhook_deliveries_by_account", "webhook_deliveries", ["account_id", "id"]);
  await addIndex(schema, "webhook_deliveries_by_account_state", "webhook_deliveries", ["account_id", "state", "id"]);
  // For finding the next delivery of each subscription, regardless of the number of queued ones.
  await addIndex(schema, "webhook_deliveries_by_webhook", "webhook_deliveries", [
    "state",
    "webhook_row",
    "due_at",
    "id",
  ]);
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
    await addOrderColumns(schema);
    await addMailColumns(schema);
    await addDeliveryColumns(schema);

    await addColumns(createOwned(schema, "mail_events", dialect), {
      mail_row: "bigint",
      event: "text",
      event_key: "text",
      "detail?": "text",
      occurred_at: "bigint",
      created_at: "bigint",
    })
      .addUniqueConstraint("mail_events_key", ["account_id", "event_key"])
      .execute();
    await addIndex(schema, "mail_events_by_mail", "mail_events", ["mail_row", "id"]);

    await createKeyedTable(schema, "mail_suppressions", ["account_id", "email_key", "kind"], {
      email_key: "text",
      kind: "text",
      mail_row: "bigint",
      created_at: "bigint",
    });

    await createKeyedTable(schema, "account_settings", ["account_id", "name"], {
      name: "text",
      value: "text",
      updated_at: "bigint",
    });

    await createKeyedTable(schema, "mail_templates", ["account_id", "category"], {
      category: "text",
      subject: "text",
      text: "text",
      html: "text",
      updated_at: "bigint",
    });

    await addColumns(createOwned(schema, "webhook_attempts", dialect), {
      delivery_row: "bigint",
      worker: "text",
      started_at: "bigint",
      "duration_ms?": "bigint",
      "status?": "integer",
      "problem?": "text",
    }).execute();
    await addIndex(schema, "webhook_attempts_by_delivery", "webhook_attempts", ["delivery_row", "id"]);
    await addIndex(schema, "webhook_attempts_by_account", "webhook_attempts", ["account_id", "id"]);
  },
  updateRows: async (db) => {
    await sql`update mails set state = 'not_sent', reason = ${notSentReason} where state = 'queued'`.execute(db);
  },
};
