import type { PlanBehavior } from "../../import/plan/plan-behavior.ts";
import { listUnsubscribers } from "../../service/listings.ts";

export const unsubscriberPlan: PlanBehavior = {
  ids: [{ type: "address", writtenIn: "", isCanonical: true }],
  keyOf: ({ key }) => key,

  loadStored: async (service, tally, options) => {
    for await (const page of listUnsubscribers(service, options)) {
      for (const { email_type_id, user_email } of page) {
        tally.addStored("address", `${email_type_id}:${user_email.toLowerCase()}`);
      }
    }
  },
};
