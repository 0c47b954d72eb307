import type { RecordKind } from "../../import/kind.ts";

/** The email types, by the numbers that stand for them in a file. */
export const emailTypeIds: readonly string[] = Array.from({ length: 17 }, (_, at) => String(at + 1));

export const unsubscribers: RecordKind = {
  name: "unsubscribers",
  itemName: { one: "address", many: "addresses" },
  fields: [
    { name: "email", aliases: ["user email"], required: true },
    { name: "email_type_id", aliases: ["type"], required: true, flag: "type" },
  ],
  columns: ["email", "email_type_id"],
  isUndoable: true,
  importCommand: {
    summary: "Unsubscribe the addresses in CSV, Excel, or JSON files",
    examples: [
      "starpost unsubscribers import addresses.csv --type 1",
      "starpost unsubscribers import addresses.csv --type 1 --remove",
    ],
    flags: {
      type: {
        value: "<email_type_id>",
        description: "email type for rows without one",
        option: "emailType",
        values: emailTypeIds,
      },
      remove: { description: "resubscribe the addresses instead of unsubscribing them", option: "remove" },
    },
  },
  exportCommand: {
    summary: "Export all addresses that are unsubscribed from a type of email",
    examples: ["starpost unsubscribers export --out unsubscribers.csv", "starpost unsubscribers export --json"],
  },
  planExamples: [
    "starpost unsubscribers plan addresses.csv --type 1 --out plan.json",
    "starpost unsubscribers plan addresses.csv --type 1 --remove",
  ],
  rejectCodes: {
    bad_email_type: { means: "not an email type" },
    unsubscribed_by_user: {
      means: "the person unsubscribed themselves, so the store cannot resubscribe them",
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
