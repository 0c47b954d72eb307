import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("reviewRules.test", {
  hooks: async () => (await import("../rule-test-hooks.ts")).ruleTestHooks,
  examples: [
    "starpost reviews rules test --content 'Win at our casino' --score 5",
    "starpost reviews rules test --review-id 12 --verification verified_buyer",
  ],
});
