import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("reviewRules.delete", {
  examples: ["starpost reviews rules delete 3", "starpost reviews rules delete 3 --yes"],
});
