import type { PlanBehavior } from "../../import/plan/plan-behavior.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Service } from "../../service/service.ts";
import { comparableName, listGroups, membershipKey } from "./memberships.ts";

export const groupPlan: PlanBehavior = {
  ids: [
    { type: "membership", writtenIn: "", isCanonical: true },
    { type: "group", field: "group", writtenIn: "group" },
    { type: "product", field: "product_id", writtenIn: "product_id" },
  ],
  keyOf: ({ key }) => key,

  loadStored: async (service, tally, options) => {
    for await (const { group, productIds } of listGroups(service, options)) {
      tally.addStored("group", comparableName(group));
      for (const id of productIds) {
        tally.addStored("membership", membershipKey(group, id));
        tally.addStored("product", id);
      }
    }
  },
};

/** The most products that one call adds. Source: the limit in `contract/groups.ts`. */
const maxAdded = 500;

/** Copies all groups and their members to an account that already has the products. */
export async function copyGroups(from: Service, to: Service, options: CallOptions): Promise<readonly string[]> {
  for await (const { group, productIds } of listGroups(from, options)) {
    await to.groups.create({ group_name: group });
    for (let at = 0; at < productIds.length; at += maxAdded) {
      await to.groups.update({
        group_name: group,
        product_ids_to_add: productIds.slice(at, at + maxAdded),
      });
    }
  }
  return [];
}
