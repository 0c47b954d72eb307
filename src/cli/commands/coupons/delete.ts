import { countOf } from "../../../terminal/plural.ts";
import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("coupons.delete", {
  summary: "Delete all coupon codes of an action",
  hooks: async () => ({
    question: async ({ coupons }, { coupon_action }) => {
      const action = String(coupon_action);
      const { stats, left = {} } = await coupons.stats({ details: true });
      const codes = stats[action];
      if (!codes) return `Delete all coupon codes of ${action}? It has no codes`;
      const issued = codes - (left[action] ?? codes);
      const all = codes === 1 ? "the only coupon code" : `all ${countOf(codes, "coupon code")}`;
      return `Delete ${all} of ${action}${issued === 0 ? "" : `, of which ${issued} are issued`}? This cannot be undone`;
    },
  }),
});
