import { countOf } from "../../../terminal/plural.ts";
import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("coupons.delete", {
  summary: "Delete all coupon codes of an action",
  hooks: async () => ({
    question: async ({ coupons }, { coupon_action }) => {
      const { stats } = await coupons.stats({});
      const action = String(coupon_action);
      const codes = Object.hasOwn(stats, action) ? (stats[action] ?? 0) : 0;
      const all = codes === 0 ? "all coupon codes" : `all ${countOf(codes, "coupon code")}`;
      const found = codes === 1 ? "the only coupon code" : all;
      return `Delete ${found} of ${action}? This cannot be undone`;
    },
  }),
});
