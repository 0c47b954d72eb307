import type { PlanBehavior } from "../../import/plan/plan-behavior.ts";

export const couponPlan: PlanBehavior = {
  ids: [{ type: "code", writtenIn: "code" }],
  keyOf: ({ key }) => key,

  loadStored: async (service, tally, options) => {
    const { coupons } = await service.coupons.list({}, options);
    for (const { code } of coupons) tally.addStored("code", code);
  },
};
