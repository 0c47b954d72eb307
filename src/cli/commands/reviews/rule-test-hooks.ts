import type { OperationHooks } from "../operations/run.ts";

/** Reports that no rule decides, because the fields of the decision are then empty. */
export const ruleTestHooks: OperationHooks = {
  readResponse: ({ messages }, _input, response) => {
    if (response["action"] === null) messages.info("No rule applies to this review.");
    return response;
  },
};
