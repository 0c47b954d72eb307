import { addCounter, type Migration } from "./table-builders.ts";

export const templateFailures: Migration = {
  version: 12,
  name: "failures of email templates",
  up: async (schema) => {
    await addCounter(schema, "mail_templates", "failures");
    await schema.alterTable("mail_templates").addColumn("problem", "text").execute();
    await schema.alterTable("mail_templates").addColumn("disabled_at", "bigint").execute();
  },
};
