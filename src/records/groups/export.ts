import type { RecordExporter } from "../../export/record-exporter.ts";
import { listGroups, membershipKey } from "./memberships.ts";

export const groupExporter: RecordExporter = {
  itemName: { one: "membership", many: "memberships" },
  sortKeys: 2,

  pages: async function* (service, _query, options) {
    for await (const { group, productIds } of listGroups(service, options)) {
      yield productIds.map((product_id) => ({
        id: membershipKey(group, product_id),
        sortKeys: [group, product_id],
        record: { group, product_id },
      }));
    }
  },
};
