import { sql } from "kysely";
import { addIndex, type Migration } from "./table-builders.ts";

/** Indexes for filters of lists, and for the health of webhooks. */
export const listIndexes: Migration = {
  version: 22,
  name: "filters of more lists",
  up: async (schema, _dialect, db) => {
    await addIndex(schema, "purchases_by_product", "purchases", ["account_id", "product_row", "id"]);
    await addIndex(schema, "mails_by_state_and_creation", "mails", ["account_id", "state", "created_at", "id"]);
    await addIndex(schema, "mails_by_product", "mails", ["account_id", "product_row", "created_at", "id"], {
      notNull: "product_row",
    });
    await addIndex(schema, "webhook_deliveries_by_creation", "webhook_deliveries", ["account_id", "created_at", "id"]);
    await addIndex(schema, "unsubscribers_by_type", "unsubscribers", [
      "account_id",
      "email_type_id",
      "created_at",
      "id",
    ]);
    await addIndex(
      schema,
      "webhook_deliveries_by_success",
      "webhook_deliveries",
      ["account_id", "webhook_row", "delivered_at"],
      {
        notNull: "delivered_at",
      },
    );
    await sql`create index webhook_attempts_failed on webhook_attempts (account_id, started_at)
      where problem is not null`.execute(db);
  },
};
