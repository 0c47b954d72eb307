import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("reviewRules.test", {
  hooks: async () => ({
    // The fields of the decision are then empty.
    readResponse: ({ messages }, _input, response) => {
      if (response["action"] === null) messages.info("No rule applies to this review.");
      return response;
    },
  }),
  examples: [
    "starpost reviews rules test --content 'Win at our casino' --score 5",
    "starpost reviews rules test --review-id 12 --verification verified_buyer",
  ],
});
