import { sql } from "kysely";
import { addCounter, createKeyedTable, type Migration } from "./table-builders.ts";

/** Existing accounts may continue to send emails. */
export const emailPermissions: Migration = {
  version: 10,
  name: "permission to send emails",
  up: async (schema) => {
    await createKeyedTable(schema, "email_permissions", ["account_id"], {
      "enabled_at?": "bigint",
      "daily_quota?": "bigint",
    });
    await addCounter(schema, "email_permissions", "quota_day");
    await addCounter(schema, "email_permissions", "quota_used");
    await createKeyedTable(schema, "test_recipients", ["account_id", "email_key"], {
      email_key: "text",
      created_at: "bigint",
    });
    await schema.alterTable("mails").addColumn("held_at", "bigint").execute();
  },
  updateRows: async (db) => {
    await sql`insert into email_permissions (account_id, enabled_at) select id, created_at from accounts`.execute(db);
  },
};
