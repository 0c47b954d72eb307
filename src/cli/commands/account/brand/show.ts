import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("brand.show", {
  examples: ["starpost account brand show", "starpost account brand show --profile shop --json"],
});
