import type { RecordExporter } from "../../export/record-exporter.ts";

export const couponExporter: RecordExporter = {
  itemName: { one: "code", many: "codes" },
  sortKeys: 2,

  /** The service returns all of them at once. */
  pages: async function* (service, { action }, options) {
    const { coupons: found } = await service.coupons.list({ details: true }, options);
    const wanted = found.filter(({ coupon_action }) => action === undefined || coupon_action === action);
    // An import makes a call for each change of the action.
    yield wanted.map(({ code, coupon_action }) => {
      return { id: code, sortKeys: [coupon_action ?? "", code], record: { code, coupon_action } };
    });
  },
};
