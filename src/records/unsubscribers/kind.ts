import { emailTypeNames, readEmailTypeId } from "../../contract/emails/type-names.ts";
import type { RecordKind } from "../../import/kind.ts";

export const unsubscribers: RecordKind = {
  name: "unsubscribers",
  itemName: { one: "address", many: "addresses" },
  fields: [
    { name: "email", aliases: ["user email"], required: true },
    { name: "email_type_id", aliases: ["type"], required: true, flag: "type" },
    { name: "consent", isMappedOnly: true },
    { name: "suppressions", isMappedOnly: true },
    { name: "unsubscribed_at", isMappedOnly: true },
  ],
  columns: ["email", "email_type_id"],
  isUndoable: true,
  layoutNames: ["shopify-customers", "klaviyo", "mailchimp", "woocommerce-customers", "email-consent"],
  importCommand: {
    summary: "Unsubscribe the addresses in CSV, Excel, or JSON files",
    examples: [
      "starpost unsubscribers import addresses.csv --type reviews",
      "starpost unsubscribers import addresses.csv --type reviews --remove",
    ],
    flags: {
      type: {
        value: "<type>",
        description: "email type for rows without one, by name or number (1 to 17)",
        option: "emailType",
        values: Object.values(emailTypeNames),
        readValue: readEmailTypeId,
      },
      remove: { description: "resubscribe the addresses instead of unsubscribing them", option: "remove" },
    },
  },
  exportCommand: {
    summary: "Export all addresses that are unsubscribed from a type of email",
    examples: ["starpost unsubscribers export --out unsubscribers.csv", "starpost unsubscribers export --json"],
  },
  planExamples: [
    "starpost unsubscribers plan addresses.csv --type reviews --out plan.json",
    "starpost unsubscribers plan addresses.csv --type reviews --remove",
  ],
  rejectCodes: {
    bad_email_type: { means: "not an email type" },
    unsubscribed_by_user: {
      means: "the person unsubscribed themselves, and the service does not resubscribe them",
      hint: "remove the address",
    },
  },
  confirmation: (options, files) =>
    options["remove"] === true ? `Resubscribe the people in ${files}? They will receive emails again.` : undefined,
  describeKey: (key) => {
    const [, type, email] = /^(\d+):(.*)$/s.exec(key) ?? [];
    return email === undefined ? key : `${email} (type ${type})`;
  },
  loadImporter: async () => (await import("./import.ts")).unsubscriberImporter,
  loadExporter: async () => (await import("./export.ts")).unsubscriberExporter,
};
