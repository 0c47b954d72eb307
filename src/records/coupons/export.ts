import type { RecordExporter } from "../../export/record-exporter.ts";

export const couponExporter: RecordExporter = {
  itemName: { one: "code", many: "codes" },
  jsonFields: ["coupon_action"],
  sortKeys: 1,

  /** The service returns all of them at once. */
  pages: async function* (service, { action }, options) {
    const { coupons: found } = await service.coupons.list({ details: true }, options);
    const wanted = found.filter(({ coupon_action }) => action === undefined || coupon_action === action);
    yield wanted.map(({ code, coupon_action }) => ({ id: code, sortKeys: [code], record: { code, coupon_action } }));
  },

  countAs: ({ record }) => (typeof record["coupon_action"] === "string" ? record["coupon_action"] : undefined),

  notices: function* (counts) {
    if (counts.size > 1) {
      const actions = [...counts].map(([action, count]) => `${action}: ${count}`).join(", ");
      yield `the codes belong to several actions (${actions}), which CSV does not record; to export one action, pass --action`;
    }
  },
};
