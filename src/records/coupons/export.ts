import { nativeColumns } from "../../import/mapping/native-columns.ts";
import type { ExportRow, Noun } from "../../export/record-export.ts";

export const coupons: Noun = {
  name: "coupons",
  itemName: { one: "code", many: "codes" },
  columns: nativeColumns.coupons,
  furtherFields: ["coupon_action"],
  sortKeys: 1,

  /** The service gives all of them at once. */
  pages: async function* (service, { action }, options) {
    const { coupons: found } = await service.coupons.list({ details: true }, options);
    yield found.filter(({ coupon_action }) => action === undefined || coupon_action === action).map(toRow);
  },

  countedAs: ({ record }) =>
    typeof record["coupon_action"] === "string" ? record["coupon_action"] : undefined,

  notices: function* (counts) {
    if (counts.size > 1) {
      const actions = [...counts].map(([action, count]) => `${count} of ${action}`).join(", ");
      yield `the codes are of several actions (${actions}), which CSV does not say: --action exports those of one`;
    }
  },
};

function toRow({ code, coupon_action }: { code: string; coupon_action?: string | undefined }): ExportRow {
  return { id: code, sortKeys: [code], record: { code, coupon_action } };
}
