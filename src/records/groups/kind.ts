import type { RecordKind } from "../../import/kind.ts";

/**
 * Memberships of products in groups. An import adds products to groups and never removes any: a group that does not
 * exist is created.
 */
export const groups: RecordKind = {
  name: "groups",
  itemName: { one: "membership", many: "memberships" },
  fields: [
    { name: "group", aliases: ["group_name"], required: true },
    { name: "product_id", required: true },
  ],
  columns: ["group", "product_id"],
  fixableFields: ["product_id"],
  idFields: ["product_id"],
  isUndoable: true,
  importCommand: {
    summary: "Add products to product groups from CSV, Excel, or JSON files",
    examples: ["starpost groups import groups.csv", "starpost groups import groups.csv --dry-run"],
  },
  exportCommand: {
    summary: "Export all product groups, one row per product, in the columns that `groups import` reads",
    examples: ["starpost groups export --out groups.csv", "starpost groups export --format ndjson"],
  },
  planExamples: ["starpost groups plan groups.csv --out plan.json", "starpost groups plan groups.csv --json"],
  rejectCodes: { bad_group: { means: "not a valid group name", hint: "use a name other than . or .." } },
  confirmation: (_options, files) =>
    `Add the products in ${files} to their groups? Products of other groups are moved.`,
  rehearsal: {
    resources: ["products"],
    copy: async (from, to, options) => (await import("./import.ts")).copyGroups(from, to, options),
  },
  loadImporter: async () => (await import("./import.ts")).groupImporter,
  loadExporter: async () => (await import("./export.ts")).groupExporter,
};
