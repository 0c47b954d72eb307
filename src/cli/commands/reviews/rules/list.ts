import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("reviewRules.list", {
  examples: ["starpost reviews rules list", "starpost reviews rules list --json"],
});
