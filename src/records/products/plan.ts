import type { PlanBehavior } from "../../import/plan/plan-behavior.ts";
import { listProducts } from "../../service/listings.ts";

export const productPlan: PlanBehavior = {
  ids: [{ type: "product", writtenIn: "product_id", name: "name" }],
  keyOf: ({ key }) => key,

  loadStored: async (service, tally, options) => {
    for await (const page of listProducts(service, {}, options)) {
      for (const { external_id, name } of page) tally.addStored("product", external_id, name);
    }
  },

  describe: async (_options, rehearsed) => {
    if (!rehearsed) return {};
    const { service, startedMs, callOptions } = rehearsed;
    const since = new Date(startedMs).toISOString();
    let changed = 0;
    for await (const page of listProducts(service, { updated_at_min: since }, callOptions)) {
      changed += page.filter(({ created_at }) => Date.parse(created_at) < startedMs).length;
    }
    return { changed };
  },
};
