import type { RecordKind } from "../../import/kind.ts";

const actions = { operation: "coupons.upload", field: "coupon_action" } as const;

export const coupons: RecordKind = {
  name: "coupons",
  itemName: { one: "code", many: "codes" },
  fields: [
    { name: "code", required: true },
    { name: "coupon_action", required: true, flag: "action" },
  ],
  columns: ["code", "coupon_action"],
  idFields: ["code"],
  isUndoable: true,
  importCommand: {
    summary: "Import unique coupon codes from CSV, Excel, or JSON files",
    examples: ["starpost coupons import codes.csv --action map_review", "starpost coupons import coupons.csv"],
    flags: {
      action: {
        value: "<action>",
        description:
          "what a customer must do to get a code, for rows without one: map_review, map_share, or map_review_share",
        option: "action",
        values: actions,
      },
    },
  },
  exportCommand: {
    summary: "Export all unique coupon codes",
    examples: [
      "starpost coupons export --out coupons.csv",
      "starpost coupons export --action map_review --format ndjson",
    ],
    flags: {
      action: { value: "<action>", description: "only codes for this action", option: "action", values: actions },
    },
  },
  planExamples: [
    "starpost coupons plan codes.csv --action map_review --out plan.json",
    "starpost coupons plan codes.csv --action map_review --json",
  ],
  rejectCodes: {
    bad_action: { means: "not a coupon action", hint: "use map_review, map_share, or map_review_share" },
  },
  loadImporter: async () => (await import("./import.ts")).couponImporter,
  loadExporter: async () => (await import("./export.ts")).couponExporter,
};
